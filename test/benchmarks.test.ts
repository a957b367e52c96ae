/** Keeps the benchmarks runnable: a quick run of each must end well and fill every row. Their figures are never judged here. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

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

it('an unknown benchmark is refused with the list of those there are', async () => {
  const failed = promisify(execFile)(process.execPath, [MAIN, 'corn'])
  await expect(failed).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('<cron|core>') })
})
