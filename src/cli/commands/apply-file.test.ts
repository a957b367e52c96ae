import { describe, expect, it } from 'vitest'
import { declaredIn } from './apply-file.ts'

const ping = { key: 'ping', every: '5m', job: 'ping' }

describe('the documents of a file', () => {
  it('are schedules one by one or in lists, and nothing between two marks is nothing', () => {
    const found = declaredIn(
      [
        ping,
        null,
        [
          { ...ping, key: 'b' },
          { ...ping, workspace: 't' },
        ],
      ],
      'x.yaml',
    )
    expect(found.map(({ body }) => [body.workspace, body.key])).toEqual([
      [undefined, 'ping'],
      [undefined, 'b'],
      ['t', 'ping'],
    ])
    expect(found[1]!.place).toBe('x.yaml, schedule 2 (b)')
  })

  it.each([
    ['no schedule at all', [null], /x.yaml contains no schedules/],
    ['text', ['hello'], /x.yaml is not a schedule, but "hello"/],
    ['a list in a list', [[[ping]]], /not a schedule/],
    ['no key', [{ every: '5m' }], /has no key/],
    ['a workspace that is a number', [{ ...ping, workspace: 5 }], /workspace must be text, not 5/],
    ['one key twice', [ping, ping], /x.yaml, schedule 2 \(ping\): x.yaml, schedule 1 \(ping\) has the same key "ping"/],
  ])('are refused when there is %s', (_, documents, message) => {
    expect(() => declaredIn(documents, 'x.yaml')).toThrow(message)
  })
})
