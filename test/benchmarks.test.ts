/** Keeps the benchmarks runnable: a quick run of each must end well and fill every row. Their figures are never judged here. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, it } from 'vitest'

const MAIN = fileURLToPath(new URL('../benchmarks/main.mjs', import.meta.url))

/** They start servers, processes and databases: on a busy machine that takes its time, and nothing here judges it. */
const WAIT_LIMIT_MS = 240_000

interface Result {
  readonly ok: boolean | null
  readonly versions: Readonly<Record<string, string>>
  readonly parts?: readonly { readonly name: string; readonly measuredAt: string | null; readonly failed?: string }[]
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
const grown = (ids: readonly string[]): string[] => ids.flatMap((id) => [id, `${id}-growth`])
const SCALE_PARTS = ['idle', 'planning', 'crowd', 'backlog', 'create', 'history', 'snapshot', 'recovery', 'footprint']
const SCALE_ROWS = [
  ...['backlog-100-p99', 'backlog-100-last', 'backlog-100-among-2000-last', 'create-1000', 'create-2000', 'recovery'],
  ...['idle-1000-cpu', 'idle-1000-memory', 'idle-2000-cpu', 'idle-2000-memory', 'idle-memory-growth'],
  ...['memory-idle', 'memory-drained', 'memory-peak', 'start-first-run', 'start-import'],
]
const COSTS = [
  ...['planning-fire', 'planning-pass', 'claim-2000', 'claim-4000', 'claim-snapshot'],
  ...['planning-snapshot-fire', 'planning-snapshot-pass'],
  ...['history-settle', 'history-fire', 'history-pass'],
]
/**
 * In SQLite these are read from this process. In Postgres pages are told by the server, from version 18 on, and its CPU only
 * where it runs on this machine and its system tells.
 */
const costRows = (store: string, version: string): string[] => {
  if (store === 'sqlite') return grown(COSTS)
  return Number.parseInt(version, 10) >= 18 ? grown(COSTS.map((id) => `${id}-pages`)) : []
}

// Side by side: they mostly wait, and whether they hurry each other along or hold each other up is not judged.
it.concurrent.each([
  ['core', 'sqlite', CORE_ROWS],
  ['core', 'postgres', CORE_ROWS],
  ['scale', 'sqlite', SCALE_ROWS],
  ['scale', 'postgres', SCALE_ROWS],
])(
  'the %s benchmark answers every question it promises on %s',
  async (name, store, asked) => {
    const env = { ...process.env, DATABASE_URL: inject('postgres') }
    const args = [MAIN, name, '--quick', '--json', '--store', store]
    const { stdout } = await promisify(execFile)(process.execPath, args, { env })
    const result: Result = JSON.parse(stdout)
    expect(result.ok).toBeNull()
    expect(Object.keys(result.versions)).toEqual(['everytick', store])
    const costs = name === 'scale' ? costRows(store, result.versions[store]!) : []
    const ids = [...asked, ...costs].map((id) => `${store}-${id}`)
    expect(result.rows.map((row) => row.id)).toEqual(expect.arrayContaining(ids))
    if (name === 'scale')
      expect(result.parts?.map((part) => [part.name, part.failed])).toEqual(
        SCALE_PARTS.map((part) => [part, undefined]),
      )
    for (const { id, ours, rivals, series = { x: [], y: [] } } of result.rows) {
      const figures = [ours, ...Object.values(rivals).flatMap(({ value, ratio }) => [value, ratio]), ...series.y]
      expect(
        figures.every((figure) => Number.isFinite(figure) && figure >= 0),
        id,
      ).toBe(true)
      expect(series.x.length, id).toBe(series.y.length)
    }
  },
  WAIT_LIMIT_MS,
)

it('a part of the scale benchmark can be measured alone, and the others are named as not measured', async () => {
  const args = [MAIN, 'scale', '--quick', '--json', '--store', 'sqlite', '--part', 'create']
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
  const result: Result = JSON.parse(stdout)
  expect(result.rows.map(({ id }) => id)).toEqual(['sqlite-create-1000', 'sqlite-create-2000'])
  const measured = result.parts?.filter(({ measuredAt }) => measuredAt !== null)
  expect(measured?.map(({ name }) => name)).toEqual(['create'])
  expect(result.parts?.map(({ name }) => name)).toEqual(SCALE_PARTS)
  // Whoever waits is told where it is and since when.
  expect(stderr).toMatch(/^sqlite \d+:\d\d {2}part create$/m)
})

it('a part that there is not is refused with the list of those there are', async () => {
  const failed = promisify(execFile)(process.execPath, [MAIN, 'scale', '--quick', '--part', 'heard'])
  await expect(failed).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining(SCALE_PARTS.join(', ')) })
})

it('a row is held to its target by store, and to none where there is none', async () => {
  const { targetOf } = await import(new URL('../benchmarks/core/targets.mjs', import.meta.url).href)
  expect(targetOf('postgres', 'backlog-1000-p99')).toEqual({ must: { kind: 'most', value: 150 }, aim: 50 })
  expect(targetOf('sqlite', 'backlog-1000-p99')).toEqual({ must: null })
  expect(targetOf('sqlite', 'drain-1')).toEqual({ must: { kind: 'least', value: 20_000 }, aim: 40_000 })
  expect(targetOf('postgres', 'drain-1')).toEqual({ must: null, aim: 60_000 })
  expect(targetOf('postgres', 'idle-1000000-server')).toEqual({ must: { kind: 'most', value: 0.5 }, aim: 0.2 })
})

it('an unknown benchmark is refused with the list of those there are', async () => {
  const failed = promisify(execFile)(process.execPath, [MAIN, 'corn'])
  await expect(failed).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('<cron|cli|core|server|http|scale>'),
  })
})
