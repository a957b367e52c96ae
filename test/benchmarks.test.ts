/** Keeps the benchmarks runnable: a quick run of each must end well and fill every row. Their figures are never judged here. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, it } from 'vitest'

const MAIN = fileURLToPath(new URL('../benchmarks/main.mjs', import.meta.url))

/** They start servers, processes and databases: on a busy machine that takes its time, and nothing here judges it. */
const PATIENCE_MS = 180_000

interface Result {
  readonly ok: boolean | null
  readonly versions: Readonly<Record<string, string>>
  readonly rows: readonly {
    id: string
    ours: number
    rivals: Readonly<Record<string, { value: number; ratio: number }>>
    series?: { x: readonly number[]; y: readonly number[] }
  }[]
}

it('the cron benchmark answers every question it promises, for us and for the rivals', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, 'cron', '--quick', '--json'])
  const result: Result = JSON.parse(stdout)
  expect(result.ok).toBeNull()
  expect(Object.keys(result.versions)).toEqual(['everytick', 'croner', 'cron-parser', 'tzdata'])
  const asked = ['five-minutes', 'workdays', 'leap-day'].flatMap((name) => [
    `next-${name}-new-york`,
    `next-${name}-utc`,
    `prev-${name}-new-york`,
  ])
  const others = ['parse-new-york', 'parse-utc', 'worst-next', 'worst-prev', 'memory-timings', 'memory-rows']
  const cold = ['cold-first', 'cold-median', 'cold-worst']
  expect(result.rows.map((row) => row.id)).toEqual([...asked, ...others, ...cold])
  for (const row of result.rows) {
    const figures = [row.ours, ...Object.values(row.rivals).flatMap(({ value, ratio }) => [value, ratio])]
    expect(
      figures.every((figure) => Number.isFinite(figure) && figure > 0),
      row.id,
    ).toBe(true)
  }
})

const CORE_ROWS = [
  ...['enqueue-bulk', 'enqueue-single', 'enqueue-callers', 'claim', 'settle', 'create', 'fires'],
  ...['drain-1', 'drain-1-cpu-worker', 'drain-2', 'drain-2-cpu-worker'],
  ...['steady-100-p50', 'steady-100-p99', 'steady-100-started', 'idle-1000-cpu', 'idle-1000-memory'],
  ...['memory-idle', 'memory-drained', 'memory-peak', 'start-first-run', 'start-import'],
]
const SCALE_ROWS = [
  ...['herd-100-p99', 'herd-100-last', 'create-1000', 'create-2000'],
  ...['idle-1000-cpu', 'idle-1000-memory', 'idle-2000-cpu', 'idle-2000-memory', 'idle-memory-growth'],
  ...['planning-fire', 'planning-fire-growth', 'planning-pass', 'planning-pass-growth', 'planning-memory', 'recovery'],
]
/** In SQLite these are read from this process, in Postgres from the server where it runs on this machine and its system tells. */
const CLAIM_ROWS = ['claim-1000', 'claim-2000', 'claim-snapshot'].flatMap((id) => [id, `${id}-growth`])
const PAGES_ROWS = ['due-pages', 'claim-1000-pages', 'claim-2000-pages', 'claim-snapshot-pages'].flatMap((id) => [
  id,
  `${id}-growth`,
])

it.each([
  ['core', 'sqlite', CORE_ROWS],
  ['core', 'postgres', CORE_ROWS],
  ['scale', 'sqlite', [...SCALE_ROWS, ...CLAIM_ROWS]],
  ['scale', 'postgres', [...SCALE_ROWS, ...PAGES_ROWS]],
])(
  'the %s benchmark answers every question it promises on %s',
  async (name, store, asked) => {
    const env = { ...process.env, DATABASE_URL: inject('postgres') }
    const args = [MAIN, name, '--quick', '--json', '--store', store]
    const { stdout } = await promisify(execFile)(process.execPath, args, { env })
    const result: Result = JSON.parse(stdout)
    expect(result.ok).toBeNull()
    expect(Object.keys(result.versions)).toEqual(['everytick', store])
    expect(result.rows.map((row) => row.id)).toEqual(expect.arrayContaining(asked.map((id) => `${store}-${id}`)))
    for (const { id, ours, rivals, series = { x: [], y: [] } } of result.rows) {
      const figures = [ours, ...Object.values(rivals).flatMap(({ value, ratio }) => [value, ratio]), ...series.y]
      expect(
        figures.every((figure) => Number.isFinite(figure) && figure >= 0),
        id,
      ).toBe(true)
      expect(series.x.length, id).toBe(series.y.length)
    }
  },
  PATIENCE_MS,
)

it('a row is held to its target by store, and to none where there is none', async () => {
  const { targetOf } = await import(new URL('../benchmarks/core/targets.mjs', import.meta.url).href)
  expect(targetOf('postgres', 'herd-1000-p99')).toEqual({ must: { kind: 'most', value: 150 }, aim: 50 })
  expect(targetOf('sqlite', 'herd-1000-p99')).toEqual({ must: null })
  expect(targetOf('sqlite', 'drain-1')).toEqual({ must: { kind: 'least', value: 20_000 }, aim: 40_000 })
  expect(targetOf('postgres', 'drain-1')).toEqual({ must: null, aim: 60_000 })
  expect(targetOf('postgres', 'idle-1000000-server')).toEqual({ must: { kind: 'most', value: 0.5 }, aim: 0.2 })
})

it('an unknown benchmark is refused with the list of those there are', async () => {
  const failed = promisify(execFile)(process.execPath, [MAIN, 'corn'])
  await expect(failed).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('<cron|core|scale>') })
})
