/** The project that both processes of a situation run: its schedules, and jobs that hang or fail while a file is there. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * `failAt`: an instant at which the nightly job is due besides, and fails. `isBulky`: each run of every second needs room of its own on the
 * disk. Both processes load the same file.
 */
export function writeProject({ failAt = null, isBulky = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-situation-'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const config = join(folder, 'everytick.config.mjs')
  writeFileSync(config, configText({ folder, failAt, isBulky }))
  if (failAt !== null) writeFileSync(join(folder, 'fail'), '')
  return {
    folder,
    config,
    file: (name) => join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** An hour ago, so that it is due tomorrow. */
function tomorrow() {
  const at = new Date(Date.now() - 3_600_000)
  return `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`
}

/** More than fits beside other rows, and cannot be compressed. */
const bulk = () => randomBytes(6000).toString('base64')

const configText = ({ folder, failAt, isBulky }) => `
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { defineConfig, defineJob, schedule } from 'everytick'

const HANG = ${JSON.stringify(join(folder, 'hang'))}
const FAIL = ${JSON.stringify(join(folder, 'fail'))}

const anything = { '~standard': { version: 1, vendor: 'situations', validate: (value) => ({ value }) } }
const quick = defineJob({ name: 'quick', payload: anything, run: () => {} })
const slow = defineJob({ name: 'slow', run: () => pause(3000) })
const mail = defineJob({ name: 'mail', queue: 'mail', run: () => {} })
const upload = defineJob({
  name: 'upload',
  timeout: 'none',
  async run(ctx) {
    while (existsSync(HANG) && !ctx.signal.aborted) await pause(100)
  },
})
const report = defineJob({
  name: 'report',
  retry: { attempts: 1 },
  run() {
    if (existsSync(FAIL)) throw new Error('rates are missing')
  },
})

export default defineConfig({
  jobs: [quick, slow, mail, upload, report],
  schedules: [
    schedule({ key: 'second', every: '1s', job: quick, payload: '${isBulky ? bulk() : ''}', overlap: 'allow', catchUp: 'all', catchUpLimit: 5000 }),
    schedule({ key: 'two-seconds', every: '2s', job: quick, payload: '' }),
    schedule({ key: 'minute', cron: '* * * * *', job: quick, payload: '' }),
    schedule({ key: 'nightly', any: [{ cron: '${tomorrow()}' }${failAt === null ? '' : `, { at: '${failAt}' }`}], job: report }),
    schedule({ key: 'slow', every: '10s', job: slow }),
    schedule({ key: 'upload', every: '2s', job: upload, overlap: 'skip' }),
    schedule({ key: 'mail', every: '2s', job: mail }),
    schedule({ key: 'mail-minute', cron: '* * * * *', job: mail }),
  ],
})
`
