import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { connect } from './connection.ts'
import { wakeOn } from './wake.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everytick-wake-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('hears others while it listens to a file, and neither before nor after', async () => {
  const connection = await connect({ path: join(folder, 'e.db'), busyTimeoutMs: 0 })
  const wake = wakeOn(connection, () => {})
  const before = wake.hears!()
  const unlisten = await wake.listen(() => {})
  const meanwhile = wake.hears!()
  await unlisten()
  expect([before, meanwhile, wake.hears!()]).toEqual([false, true, false])
  await connection.close()
})

it('hears nobody in memory, where there is nobody else', async () => {
  const connection = await connect({ path: ':memory:', busyTimeoutMs: 0 })
  const wake = wakeOn(connection, () => {})
  const unlisten = await wake.listen(() => {})
  expect(wake.hears!()).toBe(false)
  await unlisten()
  await connection.close()
})
