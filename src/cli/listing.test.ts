import { describe, expect, it } from 'vitest'
import { includeOf } from './listing.ts'

describe('includeOf', () => {
  it.each([
    ['nothing without --json', undefined, {}],
    ['nothing for --json alone', true, {}],
    ['nothing for other fields', 'id,key', {}],
    ['what is named, once', 'id, payload,payload', { include: 'payload' }],
    ['all that is named', 'result,payload', { include: 'result,payload' }],
  ])('asks for %s', (_, json, query) => expect(includeOf(json)).toEqual(query))

  it('asks a list only for what it has', () => {
    expect(includeOf('payload,result', ['payload'])).toEqual({ include: 'payload' })
  })
})
