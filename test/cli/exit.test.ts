import { describe, expect, it } from 'vitest'
import { CLI_CODES, type Code, EXIT, EXIT_OF } from '../../src/cli/exit.ts'
import { problemOf } from '../../src/cli/problem.ts'
import { UsageError } from '../../src/cli/usage-error.ts'
import { ERROR_CODES, type ErrorCode, EverytickError } from '../../src/errors.ts'
import { PROBLEM_CODES } from '../../src/server/problem-codes.ts'
import { sectionsOf } from '../markdown.ts'

const ALL = [ERROR_CODES, PROBLEM_CODES, CLI_CODES].flatMap((codes) => Object.keys(codes) as Code[])
const statusOf = (code: Code): number => EXIT[EXIT_OF[code]]

describe('the exit status of a code', () => {
  it('stands in the table for every code that the engine, a server or the command line has, and for no other', () => {
    expect(Object.keys(EXIT_OF).toSorted()).toEqual([...new Set(ALL)].toSorted())
  })

  it.each(Object.keys(ERROR_CODES) as ErrorCode[])(
    'is the same for %s whether this process or a server refused it',
    (code) => {
      const here = problemOf(new EverytickError(code, 'no'))
      const there = problemOf(new UsageError('no', { code, otherwise: 'check' }))
      expect([here.exit, there.exit]).toEqual([statusOf(code), statusOf(code)])
    },
  )

  it.each([...Object.keys(PROBLEM_CODES), ...Object.keys(CLI_CODES)] as Code[])(
    'of %s is that of the table',
    (code) => {
      expect(problemOf(new UsageError('no', { code })).exit).toBe(statusOf(code))
    },
  )

  it('is that of the answer for a code of a newer server', () => {
    expect(problemOf(new UsageError('no', { code: 'BRAND_NEW', otherwise: 'auth' })).exit).toBe(EXIT.auth)
  })

  it('is listed for every code in the reference of the command line, once', () => {
    const text =
      sectionsOf('docs/reference/cli.md').find(({ title }) => title === 'Exit status of each code')?.text ?? ''
    const rows = text.split('\n').flatMap((line) => {
      const [, status, codes] = /^\| (\d) \| (.*) \|$/.exec(line) ?? []
      return codes === undefined ? [] : Array.from(codes.matchAll(/`([A-Z_]+)`/g), ([, code]) => [code, Number(status)])
    })
    const listed = Object.keys(EXIT_OF).map((code) => [code, statusOf(code as Code)])
    expect(rows.toSorted()).toEqual(listed.toSorted())
  })
})
