/** The project of both workspaces: fifty schedules a second of the victim, whose lateness each run writes down, and jobs for the runs of the attacker. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const VICTIM = 'victim'
export const ATTACKER = 'attacker'
export const SCHEDULES = 50
/** Jobs that fail, so that each failure of the victim is an alert of its own. */
export const FAILING = Array.from({ length: 10 }, (_, i) => `fails-${i}`)

export function writeProject() {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-neighbours-'))
  const starts = join(folder, 'starts.ndjson')
  const config = join(folder, 'everytick.config.mjs')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(starts, '')
  writeFileSync(config, configText(starts))
  return {
    folder,
    config,
    /** One for each run of the victim that began: for when it was due, and how late it was. */
    starts: () =>
      readFileSync(starts, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const configText = (starts) => `
import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { defineConfig, defineJob, schedule } from 'everytick'

const anything = { '~standard': { version: 1, vendor: 'neighbours', validate: (value) => ({ value }) } }
const tick = defineJob({
  name: 'tick',
  run(ctx) {
    const dueAt = ctx.run.dueAt.getTime()
    appendFileSync(${JSON.stringify(starts)}, JSON.stringify({ dueAt, lateMs: Date.now() - dueAt }) + '\\n')
  },
})
const bulk = defineJob({ name: 'bulk', payload: anything, run: () => {} })
const slow = defineJob({ name: 'slow', run: () => pause(2000) })
const talks = defineJob({
  name: 'talks',
  run(ctx) {
    for (let n = 0; n < 200; n++) ctx.log.info('talk '.repeat(200))
  },
})
const failing = ${JSON.stringify(FAILING)}.map((name) =>
  defineJob({
    name,
    retry: { attempts: 1 },
    run() {
      throw new Error('the rates are missing')
    },
  }),
)

export default defineConfig({
  jobs: [tick, bulk, slow, talks, ...failing],
  queues: { default: { concurrency: 20, perWorkspace: 15 } },
  schedules: Array.from({ length: ${SCHEDULES} }, (_, i) =>
    schedule({ workspace: '${VICTIM}', key: 'tick-' + i, every: '1s', job: tick, overlap: 'allow' }),
  ),
})
`
