import { expect, it } from 'vitest'
import { markOf, readRemark } from './comment.ts'

it.each([
  ['what a person wrote last', ['Backups', 'Every night, to tape'], 'Every night, to tape'],
  ['without more signs', ['## Every night'], 'Every night'],
  ['nothing of a heading of columns', ['m h dom mon dow command'], null],
  ['nothing of a line that is switched off', ['0 5 * * * /bin/old'], null],
  ['nothing of a macro that is switched off', ['@daily /bin/old'], null],
  ['nothing of a setting that is switched off', ['MAILTO=root'], null],
  ['nothing of a rule', ['--------'], null],
  ['nothing of nothing', [], null],
])('take as a description %s', (_, comments, description) => {
  expect(readRemark(comments)).toMatchObject({ key: null, description })
})

it('take the name that Ansible gives', () => {
  expect(readRemark(['Ansible: nightly backup'])).toMatchObject({
    name: 'nightly backup',
    description: 'nightly backup',
  })
})

it.each([
  { key: 'backup', job: 'backup' },
  { key: 'a b/"c"', job: 'other' },
])('bring back what the mark of %j says', (names) => {
  const mark = markOf(names).slice(1).trim()
  expect(readRemark([mark, 'Every night'])).toEqual({ ...names, name: null, description: 'Every night' })
})

it.each([
  'everytick {',
  'everytick {"key":5}',
  'everytick {"key":""}',
  'everytick {"key":"a\\u0000"}',
  'everytick null',
])('do not stumble over a mark that is none: %s', (mark) => {
  expect(readRemark([mark])).toMatchObject({ key: null, job: null })
})
