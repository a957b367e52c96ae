/** What any crontab may hold: it is read without a fault, and what is imported, exported and imported again stays the same. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jobsFile } from './jobs-file.ts'
import { type ImportPlan, type ImportWishes, type PlannedJob, planImport } from './plan-import.ts'
import { readCrontab } from './read-crontab.ts'
import { type StoredSchedule, writeCrontab } from './write-crontab.ts'

const HOME = '/srv/ana'
const wishes: ImportWishes = {
  ...{ workspace: 'default', zone: 'America/New_York', prefix: '', tag: 'crontab', overlap: 'allow', catchUp: 'none' },
  job: null,
}
const importOf = (text: string): ImportPlan => planImport(readCrontab(text, false), wishes)

const exportOf = ({ schedules, jobs }: ImportPlan) => {
  const programs = new Map(jobs.map((job) => [job.name, programOf(job)]))
  const stored = schedules.map(({ body }) => ({ ...body, paused: null, quarantined: null, nextFireAt: '' }))
  return writeCrontab(stored as unknown as StoredSchedule[], {
    ...{ programOf: (job) => programs.get(job) ?? null, home: HOME, now: 0 },
  })
}

const programOf = ({ command, stdin, shell, cwd, env }: PlannedJob) => ({
  ...{ file: command, args: [], shell: shell ?? '/bin/sh', stdin, cwd: cwd ?? HOME, env },
})

const shapeOf = ({ schedules, jobs }: ImportPlan, without: ReadonlySet<string> = new Set()) => ({
  schedules: schedules
    .map(({ body }) => body)
    .filter(({ key }) => !without.has(key))
    .sort(byKey),
  jobs: jobs.map((job) => JSON.stringify(job)).sort(),
})
const byKey = (a: { readonly key: string }, b: { readonly key: string }): number => (a.key < b.key ? -1 : 1)

const pick = (...texts: string[]) => fc.constantFrom(...texts)
const field = (...more: string[]) => fc.oneof(pick('*', '*/2', '1', '2-5', '1,3', '1-9/2', '~', '*/80'), pick(...more))
const time = fc.oneof(
  fc
    .tuple(
      field('0', '59', '10~20'),
      field('0', '23'),
      field('31', '15'),
      field('jan', 'feb-DEC'),
      field('sun', '7', 'mon-fri'),
    )
    .map((all) => all.join(' ')),
  pick('@daily', '@hourly', '@weekly', '@monthly', '@yearly', '@every 5m', '@every 12h', '@midnight'),
)
const command = fc
  .array(
    pick('backup', '/opt/x.sh', 'x', 'x-2', ' ', '%', '\\%', '\\', '> /dev/null', '#', '"', "'", 'A=1 ', 'ü', '$HOME'),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => `run${parts.join('')}`)
const setting = fc.oneof(
  fc
    .tuple(pick('PATH', 'A', 'B', 'HOME', 'TZ'), pick('/bin', '/srv', 'a b', ' c ', "it's", ''))
    .map(([name, value]) => `${name}="${value}"`),
  pick(
    'CRON_TZ=Asia/Tokyo',
    'CRON_TZ=Europe/Berlin',
    'CRON_TZ=',
    'SHELL=/bin/bash',
    'SHELL=/bin/sh',
    'MAILTO=root',
    'RANDOM_DELAY=60',
    'RANDOM_DELAY=0',
  ),
)
const line = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(time, command).map((both) => both.join(' ')) },
  { weight: 2, arbitrary: setting },
  pick(
    '',
    '# Every night, to tape',
    '#Ansible: tidy up',
    '# m h dom mon dow command',
    '# everytick {"key":"marked"}',
    '@reboot no',
    'no',
  ),
)

it('gives the same schedules and jobs when an export is imported', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const first = importOf(lines.join('\n'))
      const { text, left } = exportOf(first)
      expect(left).toEqual([])
      const second = importOf(text)
      expect(second.problems).toEqual([])
      expect(shapeOf(second)).toEqual(shapeOf(first))
    }),
    { numRuns: 400 },
  )
})

it('gives the same plan whenever it is read', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      expect(importOf(lines.join('\r\n'))).toEqual(importOf(`${lines.join('\n')}\n`))
    }),
    { numRuns: 100 },
  )
})

it('reads anything without a fault, and writes jobs that can be read', () => {
  const odd = fc.oneof(
    line,
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ maxLength: 60 }).map((text) => `* * * * * ${text}`),
  )
  fc.assert(
    fc.property(fc.array(odd, { maxLength: 8 }), fc.boolean(), (lines, system) => {
      const plan = planImport(readCrontab(lines.join('\n'), system), wishes)
      for (const { line: at, reason } of plan.problems) expect([at > 0, reason !== '']).toEqual([true, true])
      exportOf(plan)
      const body = jobsFile(plan.jobs)
        .replaceAll(/^import .*$/gm, '')
        .replace('export const crontab =', 'return')
      const commands = new Function('command', 'homedir', body)(
        (each: unknown) => each,
        () => HOME,
      ) as { file: string }[]
      expect(commands.map(({ file }) => file)).toEqual(plan.jobs.map(({ command: text }) => text))
    }),
    { numRuns: 400 },
  )
})
