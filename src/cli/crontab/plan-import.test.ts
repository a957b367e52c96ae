import { describe, expect, it } from 'vitest'
import { type ImportWishes, planImport } from './plan-import.ts'
import { readCrontab } from './read-crontab.ts'

const wishes: ImportWishes = {
  ...{ workspace: 'default', zone: 'Europe/Berlin', prefix: '', tag: 'crontab', overlap: 'allow', catchUp: 'none' },
  job: null,
}
const plan = (text: string, more: Partial<ImportWishes> = {}) => planImport(readCrontab(text), { ...wishes, ...more })
const keysOf = (text: string) => plan(text).schedules.map(({ body }) => `${body.key} ${body.job}`)

describe('a line', () => {
  it('becomes a schedule that does what cron does, and a job with its command', () => {
    const { schedules, jobs, problems } = plan('PATH=/opt/bin\n# To tape\n30 2 * * * backup --all\n')
    expect(problems).toEqual([])
    expect(schedules).toEqual([
      {
        line: 3,
        body: {
          ...{ key: 'backup', workspace: 'default', cron: '30 2 * * *', timezone: 'Europe/Berlin', job: 'backup' },
          ...{ overlap: 'allow', catchUp: 'none', retry: { attempts: 1 }, timeout: 'none' },
          ...{ description: 'To tape', tags: ['crontab'] },
        },
      },
    ])
    expect(jobs).toEqual([
      {
        ...{ name: 'backup', command: 'backup --all', stdin: null, shell: null, cwd: null, user: null },
        env: { PATH: '/opt/bin' },
      },
    ])
  })

  it('is in the zone of the CRON_TZ above it, and only TZ is seen by the command', () => {
    const { schedules, jobs, notes } = plan(
      '0 1 * * * a\nCRON_TZ=Asia/Tokyo\nTZ=UTC\n0 2 * * * b\nCRON_TZ=\n0 3 * * * c\n',
    )
    expect(schedules.map(({ body }) => body.timezone)).toEqual(['Europe/Berlin', 'Asia/Tokyo', 'Europe/Berlin'])
    expect(jobs.map(({ env }) => env)).toEqual([{}, { TZ: 'UTC' }, { TZ: 'UTC' }])
    expect(notes).toEqual([{ line: 3, text: expect.stringMatching(/^TZ only sets the environment/) }])
  })

  it('has the shell, the home and the input that the file says, and no mail', () => {
    const { jobs, notes } = plan(
      'SHELL=/bin/bash\nHOME=/srv\nMAILTO=ops@example.com\n0 1 * * * mail -s x%hello%there\n',
    )
    expect(jobs).toMatchObject([
      { command: 'mail -s x', stdin: 'hello\nthere\n', shell: '/bin/bash', cwd: '/srv', env: { HOME: '/srv' } },
    ])
    expect(notes).toEqual([{ line: 3, text: expect.stringMatching(/^MAILTO: Everytick sends no mail/) }])
    expect(plan('MAILTO=""\n0 1 * * * a').notes).toEqual([])
  })

  it('is late by chance where RANDOM_DELAY says so', () => {
    expect(
      plan('RANDOM_DELAY=45\n@daily a\nRANDOM_DELAY=0\n@daily b').schedules.map(({ body }) => body.jitter),
    ).toEqual(['45m', undefined])
  })

  it('does not overlap itself where BSD says -s', () => {
    expect(plan('@daily -s a').schedules[0]!.body.overlap).toBe('skip')
  })

  it('is the payload of a job that is named, and makes no other', () => {
    const { schedules, jobs } = plan('A=1\n0 1 * * * a %in\n0 2 * * * a %in\n', { job: 'shell' })
    expect(jobs).toEqual([])
    expect(schedules.map(({ body }) => [body.key, body.job, body.payload])).toEqual([
      ['a', 'shell', { command: 'a ', stdin: 'in\n', env: { A: '1' } }],
      ['a-2', 'shell', { command: 'a ', stdin: 'in\n', env: { A: '1' } }],
    ])
  })
})

describe('names', () => {
  it('are those of the commands, told apart by what the command says', () => {
    expect(keysOf('0 1 * * * backup a/\n0 2 * * * backup b/\n0 3 * * * backup a/\n')).toEqual([
      'backup backup',
      expect.stringMatching(/^(backup-[0-9a-f]{6}) \1$/),
      'backup-2 backup',
    ])
  })

  it('stay when times change, and when lines are added below', () => {
    const before = keysOf('0 1 * * * backup a/\n0 2 * * * backup b/\n')
    expect(keysOf('0 7 * * * backup a/\n0 8 * * * backup b/\n0 9 * * * backup c/\n').slice(0, 2)).toEqual(before)
  })

  it('come from Ansible where it gives one, from an export where that says one, with the prefix that was asked for', () => {
    const text = '#Ansible: Nightly Backup\n@daily a\n# everytick {"key":"x","job":"y"}\n@daily b\n@daily c\n'
    expect(plan(text, { prefix: 'web-' }).schedules.map(({ body }) => [body.key, body.job])).toEqual([
      ['web-nightly-backup', 'web-nightly-backup'],
      ['x', 'y'],
      ['web-c', 'web-c'],
    ])
  })

  it('are never the same for two schedules', () => {
    const marked = '# everytick {"key":"x"}\n@daily a\n'
    const keys = plan(`${marked}${marked}@daily x\n@daily x-2\n`).schedules.map(({ body }) => body.key)
    expect(new Set(keys).size).toBe(4)
  })
})

describe('what cannot be carried over', () => {
  it('is told with its line and a reason, all of it, and the rest is planned', () => {
    const { schedules, jobs, problems } = plan(
      ['@reboot start', '0 25 * * * late', 'nonsense', '0 5 * * * fine', '', 'A=1', '5/15 * * * * some'].join('\n'),
    )
    expect(problems.map(({ line, code }) => [line, code])).toEqual([
      [1, 'CRON_MACRO'],
      [2, 'CRON_RANGE'],
      [3, 'CRON_SYNTAX'],
      [7, 'CRON_SYNTAX'],
    ])
    expect(problems[1]!.reason).toMatch(/hour "25" is outside 0–23 \(did you mean 0 1/)
    expect([schedules.map(({ body }) => body.key), jobs.map(({ name }) => name)]).toEqual([['fine'], ['fine']])
  })

  it('is a line of our own export that triggers the very schedule', () => {
    const { problems, schedules } = plan('# everytick {"key":"a"}\n@daily everytick trigger a\n')
    expect([problems, schedules]).toMatchObject([[{ line: 2, reason: expect.stringMatching(/trigger itself/) }], []])
  })

  it('is told once of a zone that is none, at the line that names it', () => {
    const { problems, schedules } = plan('CRON_TZ=Mars/Olympus\n0 1 * * * a\n0 2 * * * b\nCRON_TZ=UTC\n0 3 * * * c\n')
    expect(problems).toEqual([{ line: 1, code: 'TIMEZONE_UNKNOWN', reason: expect.stringMatching(/^CRON_TZ: /) }])
    expect(schedules).toHaveLength(1)
  })
})
