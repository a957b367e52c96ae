/** What we must reach and what we aim at, by store and row; a row that is not named here is only shown. How the rivals do is `rivals/rows.mjs`. */

/** `most` and `least` are musts; `aim` is what we would like, in the unit of the row. */
const TARGETS = {
  postgres: {
    'enqueue-bulk': { aim: 100_000 },
    create: { least: 50_000, aim: 100_000 },
    'create-100000': { least: 50_000, aim: 100_000 },
    'create-1000000': { least: 50_000, aim: 100_000 },
    fires: { least: 25_000, aim: 40_000 },
    'drain-1': { aim: 60_000 },
    'drain-1-cpu': { aim: 30 },
    'drain-1-cpu-worker': { aim: 10 },
    'drain-1-cpu-server': { aim: 20 },
    'drain-2': { aim: 70_000 },
    'steady-1000-p50': { most: 10, aim: 3 },
    'steady-1000-p99': { most: 100, aim: 25 },
    'backlog-1000-p99': { most: 150, aim: 50 },
    'backlog-10000-last': { most: 1000, aim: 400 },
    'backlog-100000-last': { most: 6000, aim: 3000 },
    'backlog-10000-among-1000000-last': { most: 1000, aim: 400 },
    'planning-fire-growth': { most: 1.5 },
    'planning-fire-pages-growth': { most: 2 },
    'planning-pass-growth': { most: 2 },
    'planning-pass-pages-growth': { most: 2 },
    'history-settle-growth': { most: 2 },
    'history-fire-growth': { most: 2 },
    'history-pass-growth': { most: 2 },
    'claim-1000000-growth': { most: 2, aim: 1.2 },
    'claim-1000000-pages-growth': { most: 2, aim: 1.2 },
    'claim-10000000-growth': { most: 2, aim: 1.2 },
    'claim-10000000-pages-growth': { most: 2, aim: 1.2 },
    'claim-snapshot-growth': { most: 2, aim: 1.2 },
    'claim-snapshot-pages-growth': { most: 2, aim: 1.2 },
    'planning-snapshot-fire-growth': { most: 2, aim: 1.2 },
  },
  // SQLite writes whole pages: what stands among more rows touches more of them, so that no growth is held here.
  sqlite: {
    'enqueue-bulk': { least: 20_000, aim: 40_000 },
    fires: { least: 20_000, aim: 40_000 },
    'drain-1': { least: 20_000, aim: 40_000 },
    'drain-2': { least: 20_000, aim: 40_000 },
  },
}
/** The same whatever is below. A few pages more or less of memory are no growth. */
const BOTH = {
  'idle-memory-growth': { most: 1.25 },
  recovery: { most: 12, aim: 10 },
}
const PATTERNS = [
  [/^idle-\d+-(cpu|server)$/, { most: 0.5, aim: 0.2 }],
  // More is better here, though the unit does not say so.
  [/^steady-\d+-started$/, { least: 100 }],
]

/** `{ must, aim? }` of a row. */
export function targetOf(kind, id) {
  const pattern = PATTERNS.find(([shape]) => shape.test(id))?.[1]
  const { most, least, aim } = TARGETS[kind][id] ?? BOTH[id] ?? pattern ?? {}
  const must =
    most !== undefined ? { kind: 'most', value: most } : least !== undefined ? { kind: 'least', value: least } : null
  return aim === undefined ? { must } : { must, aim }
}
