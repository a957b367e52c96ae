/** Commands as jobs, with real processes: what they are given, what is kept of what they print, how they end, and that none is left behind. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { command, type Everytick, everytick, type Job } from '../../src/index.ts'
import { openSqlite } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/contract/store.ts'

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const once = { attempts: 1 } as const
const folder = mkdtempSync(join(tmpdir(), 'everytick-command-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Stage {
  readonly app: Everytick
  readonly store: Store
}

let stages: Stage[] = []
afterEach(async () => {
  for (const { app, store } of stages) {
    await app.stop({ drain: '0s' })
    await store.close()
  }
  stages = []
})

async function started(job: Job<never>): Promise<Stage> {
  const store = await openSqlite({ path: ':memory:' })
  const app = everytick({ store, jobs: [job as Job], logger: quiet })
  stages.push({ app, store })
  await app.start()
  return { app, store }
}

async function linesOf({ store }: Stage, id: string): Promise<string[]> {
  const lines = await store.logs.read(id, { limit: 5000 })
  return lines.map(({ level, message }) => (level === 'info' ? message : `${level}: ${message}`))
}

/** Runs a job to its end; the run as it stands then, and what its log says. */
async function carriedOut(job: Job<never>, payload?: unknown) {
  const stage = await started(job)
  const handle = await stage.app.enqueue(job as Job, ...((payload === undefined ? [] : [payload]) as never[]))
  const run = await stage.app.runs.wait(handle, { timeout: '50s' })
  // By then its log is stored.
  await stage.app.stop()
  return { run, lines: await linesOf(stage, handle.id) }
}

/** What a script of the shell gives, as argv: no shell is asked for. */
const script = (text: string, more: Partial<Parameters<typeof command>[0]> = {}): Job<never> =>
  command({ name: 'script', file: '/bin/sh', args: ['-c', text], retry: once, ...more } as never) as Job<never>

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The number that a process of the run printed. */
async function printedPid(stage: Stage, id: string): Promise<number> {
  let pid = 0
  await expect
    .poll(async () => (pid = Number((await linesOf(stage, id)).join('\n').match(/pid (\d+)/)?.[1])), {
      timeout: 20_000,
    })
    .toBeGreaterThan(0)
  return pid
}

describe('a command', () => {
  it('that ends with 0 has succeeded, with what it printed in the log and the end of it in the result', async () => {
    const { run, lines } = await carriedOut(script('echo one; echo two >&2; printf three'))
    expect(run).toMatchObject({ state: 'succeeded', error: null })
    expect(run.result).toEqual({
      ...{ exitCode: 0, signal: null, outputTail: 'one\nthree' },
      durationMs: expect.any(Number),
    })
    expect(lines.toSorted()).toEqual(['one', 'three', 'warn: two'])
  })

  it('that ends with another code has failed, and says with which and its last words', async () => {
    const { run } = await carriedOut(script('echo bad >&2; echo worse >&2; exit 3'))
    expect(run).toMatchObject({ state: 'failed', attempt: 1 })
    expect(run.error).toMatchObject({ name: 'CommandError', code: 'COMMAND_EXIT' })
    expect(run.error!.message).toBe('ended with exit code 3: worse')
    expect(run.error!.detail).toMatchObject({ exitCode: 3, signal: null, outputTail: '', errorTail: 'bad\nworse' })
  })

  it('is tried again by the policy, unless its exit code says that this is no use', async () => {
    const retry = { attempts: 2, backoff: 'fixed', base: '1ms', max: '1ms' } as const
    expect((await carriedOut(script('exit 75', { retry }))).run).toMatchObject({ state: 'failed', attempt: 2 })
    const final = await carriedOut(script('exit 64', { retry, discardOn: [64] }))
    expect(final.run).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'COMMAND_EXIT' } })
  })

  it('that a signal ended has failed', async () => {
    const { run } = await carriedOut(script('kill -s SEGV $$'))
    expect(run).toMatchObject({ state: 'failed', error: { code: 'COMMAND_SIGNAL', message: 'ended by SIGSEGV' } })
  })

  const plain = join(folder, 'plain.txt')
  writeFileSync(plain, 'no program', { mode: 0o644 })
  it.each([
    ['that is not there', { file: '/no/such/file' }, '/no/such/file could not be started: there is no such file'],
    [
      'that no PATH has',
      { file: 'no-such-program-here' },
      'no-such-program-here could not be started: there is no such file',
    ],
    ['that may not be executed', { file: plain }, 'it may not be executed'],
    [
      'in a folder that is not there',
      { file: '/bin/true', cwd: '/no/such/folder' },
      'there is no folder /no/such/folder',
    ],
    ['whose words are too long', { file: '/bin/true', args: ['x'.repeat(131_072)] }, 'are too long together'],
  ])('%s fails at once', async (_, options, message) => {
    const { run } = await carriedOut(command({ name: 'lost', ...options }) as Job<never>)
    expect(run).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'COMMAND_NOT_STARTED' } })
    expect(run.error!.message).toContain(message)
  })

  it('that prints 50 MB is not held in memory, and its log has a beginning, its result the end', async () => {
    const before = process.memoryUsage().rss
    const job = script('head -c 50000000 /dev/zero | tr "\\0" x | fold -w 99; echo end')
    const { run, lines } = await carriedOut(job)
    expect(run.state).toBe('succeeded')
    expect((run.result as { outputTail: string }).outputTail).toMatch(/x\nend$|end$/)
    expect(JSON.stringify(run.result).length).toBeLessThan(5000)
    expect(lines[0]).toBe('x'.repeat(99))
    expect(lines.at(-1)).toMatch(/^warn: \d{8} more bytes of output were left out$/)
    expect(lines.join('').length).toBeLessThan(140_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000)
  })

  it('gets its arguments as they are, whatever a shell would make of them', async () => {
    const words = ['$(touch x)', '; rm -rf y', '`id`', '*', 'a b', "'", '"', '| cat', '&& echo', '-n', '', '\n', 'ü']
    const { run, lines } = await carriedOut(
      command({
        name: 'words',
        file: process.execPath,
        args: ['-e', 'console.log(JSON.stringify(process.argv.slice(1)))', '--', ...words],
        cwd: folder,
      }) as Job<never>,
    )
    expect(run.state).toBe('succeeded')
    expect(JSON.parse(lines[0]!)).toEqual(words)
  })

  it('with a shell gets its arguments as $1, $2, as they are', async () => {
    const words = ['$(id)', 'a b; echo c']
    const job = command({ name: 'text', shell: true, file: 'printf "%s|" "$@" | cat', args: words })
    expect((await carriedOut(job as Job<never>)).lines).toEqual(['$(id)|a b; echo c|'])
  })

  it('reads its payload, or a text, or nothing, and need not read it', async () => {
    const payload = z.object({ to: z.string() })
    const reads = script('cat', { payload } as never)
    expect((await carriedOut(reads, { to: 'Ada $(id)' })).lines).toEqual(['{"to":"Ada $(id)"}'])
    expect((await carriedOut(script('cat', { stdin: 'a\nb' } as never))).lines).toEqual(['a', 'b'])
    expect((await carriedOut(script('cat; echo end'))).lines).toEqual(['end'])
    const deaf = script('exit 0', { payload: z.string() } as never)
    expect((await carriedOut(deaf, 'x'.repeat(200_000))).run.state).toBe('succeeded')
  })

  it('can be given arguments that are made from its payload', async () => {
    const job = command({
      name: 'made',
      file: '/bin/echo',
      payload: z.object({ id: z.number() }),
      args: ({ id }) => ['--id', String(id)],
    })
    expect((await carriedOut(job as never, { id: 7 })).lines).toEqual(['--id 7'])
  })

  it('finds facts of its run in its environment, what it was given, and nothing of ours', async () => {
    process.env.EVERYTICK_TEST_PLANTED = 'planted-secret'
    try {
      const env = { GIVEN: 'yes', EVERYTICK_RUN: 'forged', ABSENT: undefined }
      const { run, lines } = await carriedOut(script('env', { env }))
      const found = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)))
      expect(found).toMatchObject({
        ...{ EVERYTICK_RUN: run.id, EVERYTICK_ATTEMPT: '1', EVERYTICK_FENCE: '1', EVERYTICK_WORKSPACE: 'default' },
        ...{ EVERYTICK_TRIGGER: 'enqueue', GIVEN: 'yes', LANG: 'C.UTF-8', PATH: expect.stringContaining('/usr/bin') },
      })
      const known = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|GIVEN|PWD|OLDPWD|SHLVL|_|EVERYTICK_[A-Z]+)$/
      expect(Object.keys(found).filter((name) => !known.test(name))).toEqual([])
      expect(lines.join('\n')).not.toContain('planted')
    } finally {
      delete process.env.EVERYTICK_TEST_PLANTED
    }
  })

  it('of a schedule knows its schedule, instant and slot', async () => {
    const job = script('echo "$EVERYTICK_SCHEDULE $EVERYTICK_SCHEDULED_AT $EVERYTICK_SLOT_END"')
    const stage = await started(job)
    await stage.app.schedules.upsert({ key: 'hourly', every: '1s', job: job as Job })
    await expect
      .poll(async () => (await stage.app.runs.list({ state: 'succeeded' })).length, { timeout: 20_000 })
      .toBeGreaterThan(0)
    const [run] = (await stage.app.runs.list({ state: 'succeeded' })).toReversed()
    const at = run!.scheduledAt!.toISOString()
    await expect.poll(() => linesOf(stage, run!.id)).toEqual([`hourly ${at} ${at}`])
  })
})

describe('a command that is to end', () => {
  const parent = 'sleep 600 & echo "pid $!"; wait'

  it('by its timeout is ended with all that it started', async () => {
    const job = script(parent, { timeout: '1s' })
    const stage = await started(job)
    const { id } = await stage.app.enqueue(job as Job)
    const pid = await printedPid(stage, id)
    const run = await stage.app.runs.wait(id)
    expect(run).toMatchObject({ state: 'failed', error: { code: 'RUN_TIMEOUT' } })
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
  })

  it('by its timeout and does not heed SIGTERM is ended by SIGKILL, and the next attempt waits for that', async () => {
    const deaf = "trap '' TERM; (trap '' TERM; exec sleep 600) & echo \"pid $!\"; wait; sleep 600"
    const retry = { attempts: 2, backoff: 'fixed', base: '1ms', max: '1ms' } as const
    const counted = join(folder, 'deaf')
    const job = script(`if [ -e ${counted} ]; then exit 0; fi; touch ${counted}; ${deaf}`, {
      ...{ timeout: '1s', killAfter: '200ms', retry },
    })
    const stage = await started(job)
    const { id } = await stage.app.enqueue(job as Job)
    const pid = await printedPid(stage, id)
    const run = await stage.app.runs.wait(id)
    expect(run).toMatchObject({ state: 'succeeded', attempt: 2, error: null })
    // The dead are there until somebody has taken note of them.
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
  })

  it('because it was cancelled is cancelled, and may tidy up', async () => {
    const job = script(`trap 'echo tidied; exit 0' TERM; ${parent}`)
    const stage = await started(job)
    const { id } = await stage.app.enqueue(job as Job)
    const pid = await printedPid(stage, id)
    await stage.app.runs.cancel(id)
    expect(await stage.app.runs.wait(id)).toMatchObject({ state: 'cancelled' })
    await expect.poll(() => linesOf(stage, id)).toContain('tidied')
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  it('because the worker stops goes back to be done again, also when it does not heed SIGTERM', async () => {
    const job = script("trap '' TERM; (trap '' TERM; exec sleep 600) & echo \"pid $!\"; wait; sleep 600")
    const stage = await started(job)
    const { id } = await stage.app.enqueue(job as Job)
    const pid = await printedPid(stage, id)
    await stage.app.stop({ drain: '0s' })
    expect(await stage.store.history.run(id)).toMatchObject({ state: 'pending', attempt: 0 })
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
  })

  it('has ended when its process has: what that left running is ended too', async () => {
    const { run, lines } = await carriedOut(script('sleep 600 & echo "pid $!"'))
    expect(run.state).toBe('succeeded')
    await expect.poll(() => isAlive(Number(lines[0]!.split(' ')[1])), { timeout: 10_000 }).toBe(false)
  })

  it('does not wait for a process that left its group and holds its output', async () => {
    const { run, lines } = await carriedOut(
      script(`setsid sh -c 'echo "pid $$"; touch away; exec sleep 600' & until [ -e away ]; do :; done`, {
        cwd: folder,
      }),
    )
    expect(run.state).toBe('succeeded')
    const pid = Number(lines[0]!.split(' ')[1])
    expect(isAlive(pid)).toBe(true)
    process.kill(pid, 'SIGKILL')
  })
})

describe('the commands of a list', () => {
  const allow = [
    { name: 'echo', file: '/bin/echo', args: ['fixed'], extraArgs: true },
    { name: 'strict', file: '/bin/echo', extraArgs: /[a-z]+/gm },
    { name: 'plain', file: '/bin/echo', args: ['-n', 'plain'] },
  ]
  const list = command({ allow })

  it.each([
    [{ command: 'plain' }, 'plain'],
    [{ command: 'echo', args: ['$(id)', '; ls', '*'] }, 'fixed $(id) ; ls *'],
    [{ command: 'strict', args: ['abc', 'def'] }, 'abc def'],
  ])('are executed by name: %j', async (payload, said) => {
    expect(list.name).toBe('command')
    const { run, lines } = await carriedOut(list as Job<never>, payload)
    expect([run.state, lines]).toEqual(['succeeded', [said]])
  })

  it.each([
    ['another name', { command: 'rm' }],
    ['a path', { command: '/bin/echo' }],
    ['a way out', { command: '../../bin/sh' }],
    ['a way around', { command: './echo' }],
    ['capital letters', { command: 'ECHO' }],
    ['a blank', { command: 'echo ' }],
    ['a NUL', { command: 'echo\0' }],
    ['a line break', { command: 'echo\n' }],
    ['words behind the name', { command: 'echo; id' }],
    ['what every object has', { command: 'constructor' }],
    ['what no object should have', { command: '__proto__' }],
    ['a list', { command: ['echo'] }],
    ['nothing', {}],
    ['no object', 'echo'],
    ['another file', { command: 'echo', file: '/bin/sh' }],
    ['a shell', { command: 'echo', shell: true }],
    ['an environment', { command: 'echo', env: { LD_PRELOAD: 'x' } }],
    ['words where none may be', { command: 'plain', args: ['x'] }],
    ['words that are no list', { command: 'echo', args: 'x' }],
    ['words that are no text', { command: 'echo', args: [{}] }],
    ['words with a NUL', { command: 'echo', args: ['a\0b'] }],
    ['too many words', { command: 'echo', args: Array.from({ length: 65 }, () => 'x') }],
    ['a word that is too long', { command: 'echo', args: ['x'.repeat(4097)] }],
    ['a word that does not fit', { command: 'strict', args: ['--help'] }],
    ['a word that fits in part', { command: 'strict', args: ['abc;'] }],
    ['a word that fits in one of its lines', { command: 'strict', args: ['abc\n--help'] }],
  ])('refuse %s', async (_, payload) => {
    const stage = await started(list as Job<never>)
    await expect(stage.app.enqueue(list, payload as never)).rejects.toMatchObject({
      code: expect.stringMatching(/^(PAYLOAD|JSON)_INVALID$/),
    })
  })

  it('are looked up again when the run is executed', async () => {
    const { run } = await carriedOut(command({ allow: [{ name: 'gone', file: '/bin/echo' }] }) as Job<never>, {
      command: 'gone',
    })
    expect(run.state).toBe('succeeded')
    const core = { parse: list.parse({ command: 'gone' }) }
    await expect(core.parse).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
  })

  it.each([
    ['no list', { allow: 'echo' }],
    ['an empty list', { allow: [] }],
    ['a relative file', { allow: [{ name: 'x', file: 'echo' }] }],
    ['a file with a way out', { allow: [{ name: 'x', file: '/usr/../bin/echo' }] }],
    ['a folder', { allow: [{ name: 'x', file: '/bin/' }] }],
    ['the same name twice', { allow: [allow[0], allow[0]] }],
    ['a shell', { allow: [{ name: 'x', file: '/bin/echo', shell: true }] }],
    ['a shell for all', { allow, shell: true }],
    ['both a list and a file', { allow, file: '/bin/echo' }],
    ['neither', { name: 'x' }],
    ['an argument with a NUL', { name: 'x', file: '/bin/echo', args: ['a\0'] }],
    ['a variable with a NUL', { name: 'x', file: '/bin/echo', env: { A: 'a\0' } }],
    ['a variable whose name no environment holds', { name: 'x', file: '/bin/echo', env: { 'A=B': 'a' } }],
    ['a relative shell', { name: 'x', file: 'id', shell: 'bash' }],
    ['an exit code that is none', { name: 'x', file: '/bin/echo', discardOn: [0] }],
    ['an unknown option', { name: 'x', file: '/bin/echo', arguments: [] }],
  ])('cannot be declared with %s', (_, options) => {
    expect(() => command(options as never)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^OPTION_/) }),
    )
  })
})
