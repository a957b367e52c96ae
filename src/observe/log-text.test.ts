import { describe, expect, it } from 'vitest'
import { isLogged, logLine } from './log-text.ts'

const at = Date.UTC(2027, 0, 4, 9, 0, 0, 7)
const entry = (message: string, data?: unknown) => ({ at, level: 'warn' as const, message, data })

describe('a log entry', () => {
  it('is one line with time, level, message and fields', () => {
    const text = logLine(entry('queue is slow', { queue: 'mail', ready: 12, text: 'two words', none: null }), 'text')
    expect(text).toBe('2027-01-04T09:00:00.007Z WARN  queue is slow queue=mail ready=12 text="two words" none=null')
  })

  it('is one JSON object with the same fields', () => {
    const line = logLine(entry('queue is slow', { queue: 'mail', ready: 12 }), 'json')
    expect(JSON.parse(line)).toEqual({
      ...{ time: '2027-01-04T09:00:00.007Z', level: 'warn', message: 'queue is slow' },
      ...{ queue: 'mail', ready: 12 },
    })
  })

  it.each(['text', 'json'] as const)('as %s stays one line and commands no terminal, whatever the data holds', (as) => {
    const hostile = 'a\nINFO forged\u001b[2J\u0085\u2028%s %d %o'
    const error = Object.assign(new Error(hostile), { code: hostile })
    const line = logLine(entry(hostile, { [hostile]: hostile, error, list: [hostile] }), as)
    expect(line).not.toMatch(/\p{C}|\p{Zl}|\p{Zp}/u)
    expect(line).toContain('%s %d %o')
  })

  it.each(['text', 'json'] as const)('as %s survives what JSON cannot say', (as) => {
    const circular: Record<string, unknown> = { big: 1n, f: () => {} }
    circular.self = circular
    const refusing = {
      toJSON: () => {
        throw new Error('no')
      },
    }
    expect(logLine(entry('x', circular), as)).toContain('(circular)')
    expect(logLine(entry('x', { refusing }), as)).toContain('cannot be written as JSON')
    expect(logLine(entry('x', [1, 2]), as)).toContain('[1,2]')
  })

  it('keeps the stack and the cause of an error in JSON', () => {
    const error = new TypeError('outer', { cause: new Error('inner') })
    const parsed = JSON.parse(logLine(entry('x', { error }), 'json'))
    expect(parsed.error).toMatchObject({ name: 'TypeError', message: 'outer', cause: { message: 'inner' } })
    expect(parsed.error.stack).toContain('log-text.test')
  })

  it('does not let a field take the place of time, level or message', () => {
    expect(JSON.parse(logLine(entry('x', { level: 'info', a: 1 }), 'json'))).toMatchObject({
      level: 'warn',
      data: { level: 'info', a: 1 },
    })
  })

  it('is left out below the least level', () => {
    expect([isLogged('debug', 'info'), isLogged('info', 'info'), isLogged('error', 'warn')]).toEqual([
      false,
      true,
      true,
    ])
  })
})
