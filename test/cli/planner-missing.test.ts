/** What the built program says and does while no process plans, how one command makes a deployment, and how many runs it executes at once. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../built-package.ts'
import { everytick } from './running.ts'

beforeAll(ensureBuilt)
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function project(options = ''): string {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-plan-'))
  folders.push(folder)
  writeFileSync(
    join(folder, 'everytick.config.mjs'),
    `import { defineConfig, defineJob, schedule } from 'everytick'
    const quick = defineJob({ name: 'quick', run() { console.log('quick ran') } })
    export default defineConfig({
      store: 'sqlite:./everytick.db', jobs: [quick], schedules: [schedule({ key: 'quick', every: '1s', job: quick })], ${options}
    })`,
  )
  return folder
}

describe('while no process plans', () => {
  it('a worker whose configuration declares schedules says so, and worker --plan makes them run', async () => {
    const cwd = project()
    const worker = everytick(['worker'], { cwd })
    await worker.heard(/no process plans: the 1 schedule of this code creates no runs/)
    expect(worker.shown()).toContain('everytick worker --plan')
    const planner = everytick(['worker', '--plan'], { cwd })
    await planner.heard('planner and worker on')
    await Promise.race([planner.heard('quick ran'), worker.heard('quick ran')])
    planner.interrupt()
    worker.interrupt()
    expect([await planner.ended, await worker.ended]).toEqual([0, 0])
    expect(planner.shown()).not.toContain('no process plans')
  })

  it('a worker that starts just before the process that plans warns of nothing', async () => {
    const cwd = project()
    const worker = everytick(['worker'], { cwd })
    await worker.heard('worker on')
    const planner = everytick(['worker', '--plan', '--queues', 'other'], { cwd })
    await worker.heard('quick ran')
    planner.interrupt()
    worker.interrupt()
    expect([await planner.ended, await worker.ended]).toEqual([0, 0])
    expect(worker.shown()).not.toContain('no process plans')
  })

  it('backfill says why it stays at 0 %, and doctor says what to start', async () => {
    const cwd = project()
    expect(await everytick(['sync'], { cwd }).ended).toBe(0)
    const span = ['--from', '2026-01-01T00:00:00Z', '--to', '2026-01-01T00:00:05Z', '--yes']
    const backfill = everytick(['backfill', 'quick', ...span], { cwd })
    await backfill.heard('no process plans, so this backfill does not start: start "everytick serve"')
    const doctor = everytick(['doctor'], { cwd })
    expect(await doctor.ended).toBe(5)
    expect(doctor.shown()).toMatch(/no process plans.*everytick worker --plan/)
    const planner = everytick(['worker', '--plan'], { cwd })
    expect(await backfill.ended).toBe(0)
    planner.interrupt()
    expect(await planner.ended).toBe(0)
  })

  it('serve without a key shows the commands that go on from here, with the database that was given', async () => {
    const cwd = project()
    const serve = everytick(['serve', '--port', '0', '--db', 'sqlite:./other.db'], { cwd })
    expect(await serve.ended).toBe(4)
    expect(serve.shown()).toMatch(/^KEY_MISSING: this server has no API key yet/)
    expect(serve.shown()).toContain('\n    everytick keys create --name admin --scope admin --db sqlite:./other.db\n')
    expect(serve.shown()).toContain('\n    everytick serve --db sqlite:./other.db --setup\n')
  })
})

describe('--concurrency', () => {
  it.each([
    ['by default', '', [], 'default ×10'],
    ['as concurrency in code', 'concurrency: 3', [], 'default ×3'],
    ['before concurrency in code', 'concurrency: 3', ['--concurrency', '4'], 'default ×4'],
    [
      'before the numbers of queues',
      'queues: { default: 7, mail: { concurrency: 8 } }',
      ['--concurrency', '4'],
      'default ×4, mail ×4',
    ],
    [
      'for queues that are named',
      'queues: { default: 7 }',
      ['--queues', 'default,mail', '--concurrency', '4'],
      'default ×4, mail ×4',
    ],
    ['as the numbers of queues', 'concurrency: 3, queues: { default: 7, mail: {} }', [], 'default ×7, mail ×3'],
  ])('is how many runs of each queue a worker executes at once: %s', async (_, options, args, queues) => {
    const worker = everytick(['worker', '--seconds', '0.1', ...args], { cwd: project(options) })
    expect(await worker.ended).toBe(0)
    expect(worker.shown()).toContain(`  queues  ${queues}\n`)
  })

  it('is refused where nothing is executed', async () => {
    const serve = everytick(['serve', '--concurrency', '3'], { cwd: project() })
    expect(await serve.ended).toBe(2)
    expect(serve.shown()).toContain('Add --role all')
  })
})
