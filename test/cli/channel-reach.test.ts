/** Which private addresses alert channels of `everytick serve` may reach, by the built program and a receiver that really listens. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../built-package.ts'
import { receiver } from '../server/receiver.ts'
import { runProgram } from './places.ts'
import { everytick } from './running.ts'

beforeAll(ensureBuilt)
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Adds a channel to a server that was started so, tests it, and answers what became of that. */
async function tested(address: string, args: readonly string[]) {
  const cwd = mkdtempSync(join(tmpdir(), 'everytick-channels-'))
  folders.push(cwd)
  const db = `sqlite:${join(cwd, 'everytick.db')}`
  await runProgram(['migrate', '--db', db])
  const made = await runProgram(['keys', 'create', '--db', db, '--name', 'test', '--scope', 'admin', '--json'])
  const { token } = JSON.parse(made.out) as { token: string }
  const running = everytick(['serve', '--db', db, '--port', '0', ...args], { cwd })
  await running.heard('Ctrl-C stops.')
  const url = /api\s+(http\S+)\/api\/v1/.exec(running.shown())![1]!
  const env = { EVERYTICK_TOKEN: token }
  const add = everytick(['channels', 'add', 'ops', '--kind', 'slack', '--address', address, '--url', url], { cwd, env })
  expect(await add.ended, add.shown()).toBe(0)
  const id = add.shown().trim().split(/\s/)[0]!
  const test = everytick(['channels', 'test', id, '--url', url], { cwd, env })
  const code = await test.ended
  const here = everytick(['channels', 'test', id, '--db', db], { cwd })
  await here.ended
  running.kill()
  return { code, shown: test.shown(), shownHere: here.shown() }
}

describe('an alert channel on this machine', () => {
  it('is refused by default, with the switches of serve that allow it', async () => {
    await using inbox = await receiver()
    const { code, shown } = await tested(inbox.url, [])
    expect(code).toBe(1)
    expect(shown).toContain('--private-channels')
    expect(shown).toContain('--channel-host')
    expect(inbox.heard).toEqual([])
  })

  it.each([
    ['--private-channels', ['--private-channels']],
    ['its host', ['--channel-host', '127.0.0.1']],
    ['its range, beside another host', ['--channel-host', 'ops.internal', '--channel-host', '127.0.0.0/8']],
  ])('is reached with %s', async (_, args) => {
    await using inbox = await receiver()
    const { code, shownHere } = await tested(inbox.url, args)
    expect(code).toBe(0)
    expect(inbox.heard).toMatchObject([{ method: 'POST', path: '/hook' }])
    // What opens it for the server opens nothing for a command that sends by itself.
    expect(shownHere).toContain('with --url the server sends it')
  })

  it('is refused where only other hosts are allowed', async () => {
    await using inbox = await receiver()
    expect(await tested(inbox.url, ['--channel-host', '10.0.0.0/8'])).toMatchObject({ code: 1 })
    expect(inbox.heard).toEqual([])
  })
})
