/** What `npm start` shows: the scheduler on SQLite, killed and started again, with a ledger that has no gap and no double. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'

const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'everytick-sample-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function start(): {
  child: ChildProcess
  shown: () => string
  heard: (text: string, times?: number) => Promise<void>
  ended: Promise<number | null>
} {
  const child = spawn(process.execPath, [PROGRAM, 'sample', '--db', join(folder, 'deep', 'sample.db')])
  let out = ''
  const listeners = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
    for (const listener of listeners) listener()
  })
  const heard = (text: string, times = 1): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (out.split(text).length - 1 < times) return
        listeners.delete(look)
        resolve()
      }
      listeners.add(look)
      look()
    })
  return { child, shown: () => out, heard, ended: new Promise((resolve) => child.once('close', resolve)) }
}

it('fires, survives kill -9, catches up, and stops cleanly on Ctrl-C with nothing lost and nothing doubled', async () => {
  const first = start()
  await first.heard('▶ heartbeat', 2)
  first.child.kill('SIGKILL')
  await first.ended
  expect(first.shown()).toContain('this is the first start')
  const second = start()
  await second.heard('▶ heartbeat', 3)
  // Twice, as npm and the terminal both tell it of one Ctrl-C.
  second.child.kill('SIGINT')
  second.child.kill('SIGINT')
  expect(await second.ended).toBe(0)
  const ledgers = second
    .shown()
    .split('\n')
    .filter((line) => line.includes('ledger'))
  expect(ledgers).toHaveLength(6)
  for (const line of ledgers) expect(line).toMatch(/✓ .* 0 lost, 0 doubled$/)
  expect(second.shown()).toMatch(/▶ heartbeat {2}slot [\d:.]+ {2}#1 {2}-?\d+ ms late/)
})
