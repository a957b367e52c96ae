import { expect, it } from 'vitest'
import { jobsFile, quoted } from './jobs-file.ts'

const job = { name: 'a', command: 'a', stdin: null, shell: null, cwd: null, env: {}, user: null }

it('has a command for each job, in the home of whoever runs it', () => {
  const text = jobsFile([{ ...job, command: `echo 'hi' > /tmp/x`, env: { PATH: '/bin', A: 'b' }, stdin: 'one\n' }])
  expect(
    text,
  ).toBe(`/** Commands of a crontab, written by \`everytick import crontab\`. This file is yours: edit it as you like. */
import { homedir } from 'node:os'
import { command } from 'everytick'

export const crontab = [
  command({
    name: 'a',
    shell: true,
    file: 'echo \\'hi\\' > /tmp/x',
    stdin: 'one\\n',
    cwd: homedir(),
    env: { PATH: '/bin', A: 'b' },
  }),
]
`)
})

it('says which shell, which home and which user', () => {
  const text = jobsFile([{ ...job, shell: '/bin/bash', cwd: '/srv', user: 'www-data\n*/ evil()' }])
  expect(text).toContain(`    shell: '/bin/bash',\n    file: 'a',\n    cwd: '/srv',\n`)
  expect(text).toContain('// Cron ran it as www-data?*/ evil()'.replace('*/ evil()', '?/?evil??'))
  expect(text).not.toContain('homedir')
})

it('calls a shell by hand for text that is too long for its option', () => {
  expect(jobsFile([{ ...job, command: 'x'.repeat(5000) }])).toContain(`    file: '/bin/sh',\n    args: ['-c', 'xxx`)
})

it.each([`'`, '\\', '\n\r\t\0', '\u2028', '\u202e', '`$' + '{x}`', '</script>', '\ud800', '😀', ''])(
  'writes %j so that it is read the same',
  (text) => {
    expect(new Function(`return ${quoted(text)}`)()).toBe(text)
  },
)
