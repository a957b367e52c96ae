/** Attacks the log with what handlers throw and say: no data begins a line, commands a terminal or is read as a format. */
import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { Discard, defineJob, EverytickError, everytick, type Logger } from '../../src/index.ts'
import { createTestEverytick } from '../../src/testing/test-everytick.ts'

const HOSTILE =
  'a\nINFO forged\r\u001b]0;owned\u0007\u009b2J\u0085\u2028\u2029\u202eevil\u2066\u200f\ud800 100%s %d %o %j %%c %c'
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/u

const hostileError = (): Error => Object.assign(new TypeError(HOSTILE), { code: HOSTILE, cause: new Error(HOSTILE) })
const throws = defineJob({
  name: 'throws',
  retry: { attempts: 2, backoff: 'fixed', base: '1s' },
  run() {
    throw hostileError()
  },
})
const discards = defineJob({
  name: 'discards',
  run() {
    throw new Discard(HOSTILE)
  },
})
const says = defineJob({
  name: 'says',
  run(ctx) {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) {
      ctx.log[level](HOSTILE, { [HOSTILE]: HOSTILE, error: hostileError() })
      ctx.log[level](HOSTILE, hostileError())
      ctx.log[level](HOSTILE)
    }
  },
})
const saysAnObject = defineJob({ name: 'says-an-object', run: (ctx) => ctx.log.info({ [HOSTILE]: 1 } as never) })
const jobs = [throws, discards, says, saysAnObject]

/** Lives through every job, a listener that throws and a failure of the engine. */
async function everything(logger: Logger | undefined): Promise<void> {
  await using t = await createTestEverytick({ now: '2027-05-01T00:00:00Z', jobs, ...(logger && { logger }) })
  t.app.on('run.failed', () => {
    throw hostileError()
  })
  for (const job of jobs) await t.app.enqueue(job)
  await t.advance('10s')
}

describe('the log', () => {
  it('of a console has one line for each entry, whatever handlers throw and say', async () => {
    const written: string[] = []
    const stream = new Writable({
      write(chunk, _, done) {
        written.push(String(chunk))
        done()
      },
    })
    await everything(new Console({ stdout: stream, stderr: stream }))
    expect(written.length).toBeGreaterThan(15)
    for (const line of written) {
      expect(line).toMatch(/^\d{4}-\d\d-\d\dT\S+ (?:DEBUG|INFO |WARN |ERROR) .+\n$/)
      expect(line.slice(0, -1)).not.toMatch(UNSAFE)
    }
    expect(written.join('')).toContain('100%s %d %o %j %%c %c')
  })

  it('of any other logger gets messages that are one line and no format', async () => {
    const written: string[] = []
    const note = (message: string): void => void written.push(message)
    await everything({ debug: note, info: note, warn: note, error: note })
    expect(written.length).toBeGreaterThan(15)
    for (const message of written) {
      expect(message).not.toMatch(UNSAFE)
      expect(message).not.toMatch(/%[a-z%]/i)
    }
    expect(written.join('\n')).toContain('100\\u{25}s')
    expect(written).toContain('[object Object]')
  })

  it.each([
    ['is named', { logger: console }],
    ['is not', {}],
  ])('on the console of the process is as safe when a logger %s', async (_, options) => {
    const written: unknown[][] = []
    const spies = (['debug', 'info', 'warn', 'error'] as const).map((level) =>
      vi.spyOn(console, level).mockImplementation((...all: unknown[]) => void written.push(all)),
    )
    try {
      await using app = everytick({ store: 'sqlite::memory:', jobs: [says], ...options })
      await app.start()
      await app.runs.wait((await app.enqueue(says)).id)
    } finally {
      for (const spy of spies) spy.mockRestore()
    }
    expect(written.length).toBeGreaterThan(8)
    for (const all of written) {
      expect(all).toHaveLength(1)
      expect(String(all[0])).not.toMatch(UNSAFE)
    }
  })
})

describe('an EverytickError', () => {
  it('has a message and a hint that are safe to write', () => {
    const error = new EverytickError('OPTION_INVALID', `x ${HOSTILE}`, { hint: HOSTILE })
    expect(error.message).not.toMatch(UNSAFE)
    expect(error.hint).not.toMatch(UNSAFE)
    expect(error.message).toContain('\\u{1b}]0;owned')
    expect(error.stack!.split('\n    at ')[0]).not.toMatch(UNSAFE)
  })
})
