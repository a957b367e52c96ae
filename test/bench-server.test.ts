/** Keeps the benchmark of the server runnable: a quick run must end well and fill every row. Its figures are never judged here. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, inject, it } from 'vitest'

const BENCHMARK = new URL('../benchmarks/server/', import.meta.url)
const WAIT_LIMIT_MS = 120_000

interface Row {
  readonly id: string
  readonly ours: number
  readonly must: { readonly kind: string; readonly value: number } | null
}

it(
  'the server benchmark answers every question it promises',
  async () => {
    const script = `
      const { run } = await import(${JSON.stringify(new URL('main.mjs', BENCHMARK).href)})
      const { rows } = await run({ quick: true, note: () => {} })
      process.stdout.write(JSON.stringify(rows))`
    const env = { ...process.env, DATABASE_URL: inject('postgres') }
    const args = ['--input-type=module', '--eval', script]
    const { stdout } = await promisify(execFile)(process.execPath, args, { env })
    const rows: readonly Row[] = JSON.parse(stdout)
    const { REQUIRED_ROWS } = (await import(new URL('questions.mjs', BENCHMARK).href)) as { REQUIRED_ROWS: string[] }
    const leased = rows.filter(({ must }) => must !== null)
    expect(leased.map(({ id }) => id)).toEqual(REQUIRED_ROWS)
    for (const { id, ours } of rows) expect(Number.isFinite(ours) && ours > 0, id).toBe(true)
  },
  WAIT_LIMIT_MS,
)
