/** Keeps the benchmarks runnable: a quick run of each must end well and fill every row. Their figures are never judged here. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, it } from 'vitest'

const MAIN = fileURLToPath(new URL('../benchmarks/main.mjs', import.meta.url))

interface Result {
  readonly ok: boolean | null
  readonly versions: Readonly<Record<string, string>>
  readonly rows: readonly {
    id: string
    ours: number
    rivals: Readonly<Record<string, { value: number; ratio: number }>>
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
  ...['planning-pass', 'planning-growth', 'planning-memory'],
]
const POSTGRES_ROWS = ['due-pages', 'due-growth', 'claim-pages', 'claim-growth']

it.each([
  ['sqlite', CORE_ROWS],
  ['postgres', [...CORE_ROWS, ...POSTGRES_ROWS]],
])('the core benchmark answers every question it promises on %s', async (store, asked) => {
  const env = { ...process.env, DATABASE_URL: inject('postgres') }
  const args = [MAIN, 'core', '--quick', '--json', '--store', store]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  const result: Result = JSON.parse(stdout)
  expect(result.ok).toBeNull()
  expect(Object.keys(result.versions)).toEqual(['everytick', store])
  expect(result.rows.map((row) => row.id)).toEqual(expect.arrayContaining(asked.map((id) => `${store}-${id}`)))
  for (const { id, ours, rivals } of result.rows) {
    const figures = [ours, ...Object.values(rivals).flatMap(({ value, ratio }) => [value, ratio])]
    expect(
      figures.every((figure) => Number.isFinite(figure) && figure >= 0),
      id,
    ).toBe(true)
  }
})

it('an unknown benchmark is refused with the list of those there are', async () => {
  const failed = promisify(execFile)(process.execPath, [MAIN, 'corn'])
  await expect(failed).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('<cron|core>') })
})
