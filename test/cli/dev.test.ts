/** `everytick dev`, by the built program: something to see at once, code that is loaded again, keys, and a ledger that survives kill -9. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt, root } from '../built-package.ts'
import { everytick, PROGRAM, type Running, running } from './running.ts'

beforeAll(ensureBuilt)
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function project(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-dev-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const urlOf = ({ shown }: Running): string => /overview {3}(http:\/\/localhost:\d+)/.exec(shown())![1]!

const jobs = (word: string): string => `
  import { defineJob, schedule, type Job } from 'everytick'
  export const tick: Job = defineJob({ name: 'tick', run(ctx) { ctx.log.info('${word}') } })
  export const schedules = [schedule({ key: 'tick', every: '1s', job: tick })]`

describe('everytick dev', () => {
  it('shows a run, the next fire and the interface in an empty folder, and ends on Ctrl-C with the ledger', async () => {
    const cwd = project()
    const dev = everytick(['dev', '--port', '0'], { cwd })
    await dev.heard(/✓ hello .* next \d\d:\d\d:\d\d/)
    const url = urlOf(dev)
    const page = await fetch(url)
    expect([page.status, page.headers.get('refresh')]).toEqual([200, '5'])
    expect(await page.text()).toMatch(/Next[\s\S]*hello[\s\S]*Recent[\s\S]*succeeded/)
    const { data } = (await (await fetch(`${url}/api/v1/schedules`)).json()) as { data: { key: string }[] }
    expect(data.map(({ key }) => key)).toEqual(['hello'])
    // Twice, as npm and the terminal both tell it of one Ctrl-C.
    dev.interrupt()
    dev.interrupt()
    expect(await dev.ended).toBe(0)
    expect(dev.shown()).toMatch(/no config → SQLite \.everytick\/dev\.db \(new, \d+ ms\)/)
    expect(dev.shown()).toMatch(/ledger ✓ .* 0 unexplained, 0 lost, 0 doubled\n$/)
  })

  it('takes up TypeScript as it changes; what cannot be read leaves the old code running', async () => {
    const cwd = project({ 'jobs.ts': jobs('first') })
    const dev = everytick(['dev', '--port', '0'], { cwd })
    await dev.heard(/· tick +first/)
    expect(dev.shown()).toContain('1 in jobs.ts (watching)')
    writeFileSync(join(cwd, 'jobs.ts'), `${jobs('broken')}\nconst x: = 1`)
    await dev.heard('cannot load the change')
    expect(dev.shown()).toMatch(/jobs\.ts:5/)
    const before = dev.shown().split('first').length
    await dev.heard(/· tick +first/, before)
    expect((await fetch(`${urlOf(dev)}/readyz`)).status).toBe(200)
    writeFileSync(join(cwd, 'jobs.ts'), jobs('second'))
    await dev.heard(/· tick +second/)
    expect((await fetch(`${urlOf(dev)}/readyz`)).status).toBe(200)
    dev.interrupt()
    expect(await dev.ended).toBe(0)
    expect(dev.shown()).toMatch(/ledger ✓/)
    expect(dev.shown()).not.toContain('broken')
  })

  it('ends what runs the jobs when it is killed itself', async () => {
    const cwd = project({ 'jobs.ts': jobs('pid').replace("'pid'", "'pid ' + process.pid") })
    const dev = everytick(['dev', '--port', '0'], { cwd })
    await dev.heard(/pid \d+/)
    const pid = Number(/pid (\d+)/.exec(dev.shown())![1])
    dev.child.kill('SIGKILL')
    await expect.poll(() => isAlive(pid), { timeout: 15_000 }).toBe(false)
  })

  it('refuses at once, without a terminal, what it cannot run', async () => {
    const cwd = project({ 'everytick.config.ts': 'export default { jobs: [], shedules: [] }' })
    const dev = everytick(['dev', '--port', '0'], { cwd })
    expect(await dev.ended).toBe(2)
    expect(dev.shown()).toMatch(/OPTION_UNKNOWN: everytick\.config\.ts: .*shedules/)
    const wrong = everytick(['dev', '--seconds', '0'], { cwd })
    expect(await wrong.ended).toBe(2)
  })
})

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('npm start', () => {
  const config = join(root, 'examples', 'five-schedules', 'everytick.config.ts')

  it('shows five schedules, survives kill -9, catches up, and has nothing lost and nothing doubled', async () => {
    const args = ['dev', '--config', config, '--port', '0']
    const cwd = project()
    const first = everytick(args, { cwd })
    await Promise.all([
      first.heard(/✓ beat .* lag/, 2),
      first.heard(/▶ report/),
      first.heard(/↻ flaky .*the first attempt always fails here/),
      first.heard('⊘ slow          skipped: the previous run was still active'),
      first.heard('✓ acme/digest'),
    ])
    first.kill()
    await first.ended
    const second = everytick([...args], { cwd })
    await second.heard(/✓ beat .* next/, 3)
    second.interrupt()
    expect(await second.ended).toBe(0)
    expect(second.shown()).toMatch(/ledger ✓ \d+ occurrences = .* 0 unexplained, 0 lost, 0 doubled\n$/)
  })

  it('ends by itself after --seconds', async () => {
    const dev = everytick(['dev', '--config', config, '--port', '0', '--seconds', '1'], { cwd: project() })
    expect(await dev.ended).toBe(0)
    expect(dev.shown()).toContain('stopping: no new runs, those in flight may finish')
  })
})

describe.skipIf(process.platform !== 'linux')('the keys of dev', () => {
  it('show what comes, trigger, move the clock, and quit', async () => {
    const cwd = project({ 'jobs.ts': jobs('typed').replace("'1s'", "'30m'") })
    const dev = running(['script', '-qec', `${process.execPath} ${PROGRAM} dev --port 0`, '/dev/null'], { cwd })
    const type = (keys: string): void => void dev.child.stdin!.write(keys)
    await dev.heard('q quit')
    await expect.poll(() => fetch(`${urlOf(dev)}/readyz`).then(({ status }) => status)).toBe(200)
    type('n')
    await dev.heard(/SCHEDULE +NEXT +IN\s+tick +\d\d:\d\d:00 +\d+/)
    type('t')
    await dev.heard('trigger which?  1 tick')
    type('1\r')
    await dev.heard(/✓ tick/)
    type('f')
    await dev.heard('one hour ahead')
    await dev.heard(/✓ tick/, 2)
    type('n')
    await dev.heard('SCHEDULE', 2)
    type('q')
    expect(await dev.ended).toBe(0)
    expect(dev.shown()).toMatch(/ledger ✓/)
  })
})
