/** Registers a metric whose value is read at each scrape. */
import { Counter, Gauge, type Registry } from 'prom-client'

/** A value with its labels. */
export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number]

export interface Figure<Poll> {
  readonly name: string
  readonly help: string
  readonly kind: 'gauge' | 'counter'
  /** The label names, if any. */
  readonly labels?: readonly string[]
  /** Null, or no sample, for an unknown value, which is then left out. */
  readonly read: (poll: Poll) => number | null | Iterable<Sample>
}

export function registerFigure<Poll>(registry: Registry, figure: Figure<Poll>, poll: () => Poll | Promise<Poll>): void {
  const { name, help, kind, labels = [], read } = figure
  const spec = { name, help, labelNames: [...labels], registers: [registry] }
  const metric = kind === 'gauge' ? new Gauge({ ...spec, collect }) : new Counter({ ...spec, collect })
  async function collect(): Promise<void> {
    const value = read(await poll())
    metric.reset()
    // Without labels a metric is 0 after a reset, which would report an unknown value as 0.
    if (value === null) metric.remove()
    else if (typeof value === 'number') metric.inc(value)
    else for (const [sample, number] of value) metric.inc(sample, number)
  }
}
