/** Rows that say how a cost grows: the cost at the largest size with the line through all of them, and how many times the smallest that is. */

/**
 * `costs` are `{ us, pages }` by the sizes of `x`, null for what nobody tells; `bases`, of the same sizes, are what each is
 * held against: by default the first.
 */
export function growthRows({ id, what, than, x, xLabel, costs, bases = costs.map(() => costs[0]) }) {
  const [last, base] = [costs.at(-1), bases.at(-1)]
  const series = (name, yLabel) =>
    x.length < 2 ? {} : { series: { x, y: costs.map((cost) => cost[name]), xLabel, yLabel } }
  const rows = []
  const add = (part, name, row) => {
    if (last[name] === null) return
    rows.push({ id: `${id}${part}`, ...row, ours: last[name], ...series(name, row.unit) })
    // What costs nothing at first cannot grow by a factor.
    if (base[name] > 0)
      rows.push({
        id: `${id}${part}-growth`,
        what: `  ${row.unit}, ${than}`,
        unit: 'times',
        ours: last[name] / base[name],
      })
  }
  add('', 'us', { what, unit: 'us CPU' })
  add('-pages', 'pages', { what: rows.length === 0 ? `${what}, pages` : '  pages', unit: 'pages' })
  return rows
}

/** The least of several turns of the same work, name by name: what a busy machine adds is no cost of ours. */
export function least(costs) {
  const of = (name) => (costs.some((cost) => cost[name] === null) ? null : Math.min(...costs.map((cost) => cost[name])))
  return { us: of('us'), pages: of('pages') }
}

/** The mean over turns of equal size, name by name: what comes rarely and is expensive counts as often as it comes. */
export function mean(costs) {
  const of = (name) =>
    costs.some((cost) => cost[name] === null) ? null : costs.reduce((sum, cost) => sum + cost[name], 0) / costs.length
  return { us: of('us'), pages: of('pages') }
}
