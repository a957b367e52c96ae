/** Exports bucket counts as a Prometheus histogram; `observe/class-counts.ts` counts. */
import type { Metric, Registry } from 'prom-client'
import type { ClassCounts } from '../../observe/class-counts.ts'

export interface HistogramSpec {
  readonly name: string
  readonly help: string
  readonly bounds: readonly number[]
  /** The bucket counts with their labels, read at each scrape. */
  readonly read: () => Iterable<readonly [labels: Readonly<Record<string, string>>, counts: ClassCounts]>
}

/**
 * The histogram of the package takes most of a microsecond per value to find its labels. Counting elsewhere and exporting the sums
 * at each scrape avoids that cost.
 */
export function registerHistogram(registry: Registry, { name, help, bounds, read }: HistogramSpec): void {
  const values = () => [...read()].flatMap(([labels, counts]) => linesOf(counts, { name, bounds, labels }))
  const metric = {
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    get: async () => ({ ...metric, values: values() }),
  }
  // A registry only uses these fields of a metric, although its type requires more.
  registry.registerMetric(metric as unknown as Metric)
}

interface Place {
  readonly name: string
  readonly bounds: readonly number[]
  readonly labels: Readonly<Record<string, string>>
}

/** Buckets are cumulative. */
function linesOf({ counts, sum }: ClassCounts, { name, bounds, labels }: Place) {
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
