import { describe, expect, it } from 'vitest'
import { refuseUnreleased, release } from './refuse-unreleased.ts'
import type { Reply } from './route.ts'

const refusal = (id: string, reply: Partial<Reply>): string | null => {
  try {
    refuseUnreleased({ id }, { status: 200, ...reply })
    return null
  } catch (error) {
    return (error as Error).message
  }
}
const shown = () => release({ id: 1, payload: 'x', error: { detail: 'x' } })
const stream = (): Response => new Response('x')

describe('an operation that may show payloads', () => {
  it.each<[string, Partial<Reply>]>([
    ['what was released', { body: shown() }],
    ['a list of it', { body: { data: [shown(), shown()], page: { next: null } } }],
    ['what has no content', { body: { id: 1, error: null, before: 3, after: new Date(0) } }],
    ['a change with it for the audit log', { change: { workspace: 'a', target: 'x', before: shown(), after: null } }],
    ['a stream that was released', { raw: release(stream()) }],
    ['no body', { raw: new Response(null) }],
  ])('answers %s', (_, reply) => expect(refusal('getRun', reply)).toBeNull())

  it.each<[string, Partial<Reply>, string]>([
    ['a payload', { body: { payload: 'x' } }, 'payload'],
    ['one in a list', { body: { data: [shown(), { run: { payload: 0 } }] } }, 'data.1.run.payload'],
    ['a copy of what was released', { body: { ...shown() } }, 'payload'],
    ['a result', { body: { run: { result: { a: 1 } } } }, 'run.result'],
    ['an error', { body: { last: { error: { message: 'x' } } } }, 'last.error'],
    ['a difference', { body: { found: { before: { a: 1 } } } }, 'found.before'],
    ['lines', { body: { lines: [{ data: 'x' }] } }, 'lines.0.data'],
    ['a payload when it is repeated', { body: shown(), repeated: { payload: 'x' } }, 'payload'],
    ['a payload to the audit log', { change: { workspace: 'a', target: 'x', after: { payload: 1 } } }, 'payload'],
  ])('does not answer %s', (_, reply, spot) =>
    expect(refusal('getRun', reply)).toBe(`getRun answers ${spot}, which did not come from shown.ts`),
  )

  it('does not answer a stream of its own', () => expect(refusal('readLogs', { raw: stream() })).toMatch(/stream/))
})

describe('an operation that shows nothing of it', () => {
  it.each<[string, Partial<Reply>]>([
    ['what was released', { body: shown() }],
    ['a list of it', { body: { data: [shown()] } }],
    ['a payload', { body: { payload: 'x' } }],
    ['a stream of it', { raw: release(stream()) }],
  ])('does not answer %s', (_, reply) => expect(refusal('listQueues', reply)).toMatch(/^listQueues (?:answers|shows)/))

  it('answers a text of its own', () => expect(refusal('getMetrics', { raw: stream() })).toBeNull())
})
