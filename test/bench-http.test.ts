/** Keeps the benchmark of HTTP calls runnable, and its targets in the list of those that must be measured; its figures are never judged here. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, inject, it } from 'vitest'
import { ensureBuilt } from './built-package.ts'

const MAIN = fileURLToPath(new URL('../benchmarks/main.mjs', import.meta.url))
beforeAll(ensureBuilt, 120_000)

it('a quick run calls from both stores, and is held to the targets', async () => {
  const env = { ...process.env, DATABASE_URL: inject('postgres') }
  const args = [MAIN, 'http', '--quick', '--json', '--seconds', '1']
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  const { ok, rows, settings } = JSON.parse(stdout)
  expect(ok).toBeNull()
  expect(settings).toMatchObject({ seconds: 1 })
  const parts = ['p50', 'p99', 'arrived', 'cpu']
  const stores = ['sqlite', 'postgres']
  expect(rows.map(({ id }: { id: string }) => id)).toEqual(
    stores.flatMap((store) => parts.map((part) => `${store}-http-50-${part}`)),
  )
  for (const { ours } of rows) expect(ours).toBeGreaterThan(0)
  expect(rows.filter(({ must }: { must: unknown }) => must !== null)).toMatchObject(
    stores.flatMap(() => [{ must: { kind: 'most', value: 100 } }, { must: { kind: 'least', value: 100 } }]),
  )
  const { REQUIRED } = await import(new URL('../benchmarks/check.mjs', import.meta.url).href)
  expect(REQUIRED.http).toEqual(stores.flatMap((store) => [`${store}-http-500-p99`, `${store}-http-500-arrived`]))
}, 120_000)
