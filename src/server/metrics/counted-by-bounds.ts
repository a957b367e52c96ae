/** Counts values in classes by upper bounds, cheaply enough for every run; how the counts are written out is the registry's matter. */
import type { Metric, Registry } from 'prom-client'
import type { PerName } from './per-name.ts'

export interface Classes {
  add(value: number): void
  /** One more than there are bounds. */
  readonly counts: readonly number[]
  readonly sum: number
}

export function createClasses(bounds: readonly number[]): Classes {
  const counts = new Array<number>(bounds.length + 1).fill(0)
  let sum = 0
  return {
    add(value) {
      let at = 0
      while (at < bounds.length && value > bounds[at]!) at++
      counts[at]!++
      sum += value
    },
    counts,
    get sum() {
      return sum
    },
  }
}

export interface HistogramSpec {
  readonly name: string
  readonly help: string
  readonly bounds: readonly number[]
  /** The label that tells the classes apart, and those by its value. */
  readonly by: readonly [label: string, classes: Pick<PerName<Classes>, 'entries'>] | null
  /** Where there is no label. */
  readonly classes?: Classes
}

/**
 * The package's own histogram takes most of a microsecond per value to find its labels; counting here and telling it the
 * sums when somebody asks takes none of that.
 */
export function registerHistogram(registry: Registry, { name, help, bounds, by, classes }: HistogramSpec): void {
  const values = () =>
    by === null
      ? linesOf(classes!, { name, bounds, labels: {} })
      : [...by[1].entries()].flatMap(([value, each]) => linesOf(each, { name, bounds, labels: { [by[0]]: value } }))
  const metric = {
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    get: async () => ({ ...metric, values: values() }),
  }
  // A registry asks no more of a metric than this, though its type does.
  registry.registerMetric(metric as unknown as Metric)
}

interface Place {
  readonly name: string
  readonly bounds: readonly number[]
  readonly labels: Readonly<Record<string, string>>
}

/** Each class counts those below it too. */
function linesOf({ counts, sum }: Classes, { name, bounds, labels }: Place) {
  let below = 0
  const buckets = counts.map((count, i) => {
    below += count
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[i] ?? '+Inf' }, value: below }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: below },
  ]
}
