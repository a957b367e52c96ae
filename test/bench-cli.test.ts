/** Keeps the benchmark of the command line runnable, and its targets in the list of those that must be measured; its figures are never judged here. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { ensureBuilt } from './built-package.ts'

const MAIN = fileURLToPath(new URL('../benchmarks/main.mjs', import.meta.url))
beforeAll(ensureBuilt, 120_000)

it('a quick run times every command beside a bare Node, and is held to the targets', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, 'cli', '--quick', '--json'])
  const { ok, rows } = JSON.parse(stdout)
  expect(ok).toBeNull()
  expect(rows).toMatchObject([
    { id: 'help', unit: 'ms', must: { kind: 'most', value: 120 } },
    { id: 'next', unit: 'ms', must: { kind: 'most', value: 150 } },
  ])
  for (const { ours, rivals } of rows) {
    expect(ours).toBeGreaterThan(0)
    expect(rivals['node -e 0'].ratio).toBeGreaterThan(0)
  }
  const { REQUIRED } = await import(new URL('../benchmarks/check.mjs', import.meta.url).href)
  expect(REQUIRED.cli).toEqual(rows.map(({ id }: { id: string }) => id))
}, 60_000)
