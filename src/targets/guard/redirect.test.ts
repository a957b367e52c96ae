import { describe, expect, it } from 'vitest'
import { nextRequest, type Redirected } from './redirect.ts'

const HEADERS = [
  ['authorization', 'Bearer geheim'],
  ['x-api-key', 'geheim'],
  ['cookie', 'a=geheim'],
  ['everytick-completion-token', 'geheim'],
  ['content-type', 'application/json'],
  ['idempotency-key', 'r1'],
  ['webhook-id', 'r1'],
  ['webhook-signature', 'v1,abc'],
] as const

const redirect = (change: Partial<Redirected> = {}) =>
  nextRequest({
    from: new URL('https://a.example/one'),
    status: 307,
    location: '/two',
    method: 'POST',
    headers: HEADERS,
    ...change,
  })

describe('a redirect', () => {
  it.each([
    [307, 'POST', 'POST', true],
    [308, 'PUT', 'PUT', true],
    [303, 'POST', 'GET', false],
    [303, 'HEAD', 'HEAD', false],
    [301, 'GET', 'GET', true],
    [302, 'HEAD', 'HEAD', true],
  ])('with %i of %s is followed by %s; the body goes along: %s', (status, method, next, keepsBody) => {
    expect(redirect({ status, method })).toMatchObject({ kind: 'follow', method: next, keepsBody })
  })

  it.each([
    [301, 'POST', 'may turn POST into GET'],
    [302, 'DELETE', 'may turn DELETE into GET'],
    [300, 'GET', 'not a redirect that can be followed'],
    [304, 'GET', 'not a redirect that can be followed'],
  ])('with %i of %s is refused', (status, method, reason) => {
    expect(redirect({ status, method })).toEqual({ kind: 'refused', reason: expect.stringContaining(reason) })
  })

  it.each([
    ['/two?x=1', 'https://a.example/two?x=1'],
    ['two', 'https://a.example/two'],
    ['//b.example/two', 'https://b.example/two'],
    ['https://b.example/', 'https://b.example/'],
  ])('to %s leads to %s', (location, href) => {
    expect(redirect({ location })).toMatchObject({ kind: 'follow', url: new URL(href) })
  })

  it.each([
    ['nowhere', null, 'does not say where to'],
    ['what cannot be read', 'https://[', 'does not say where to'],
    ['http from https', 'http://a.example/two', 'not encrypted'],
    ['another scheme', 'file:///etc/passwd', 'not encrypted'],
  ])('to %s is refused', (_, location, reason) => {
    expect(redirect({ location })).toEqual({ kind: 'refused', reason: expect.stringContaining(reason) })
  })

  it('from http may lead to https', () => {
    const from = new URL('http://a.example/')
    expect(redirect({ from, location: 'https://a.example/' })).toMatchObject({ kind: 'follow' })
  })

  it('within an origin keeps every header', () => {
    expect(redirect()).toMatchObject({ headers: HEADERS })
  })

  it.each(['https://b.example/', 'https://a.example:8443/', 'https://x.a.example/'])(
    'to another origin takes no credential along: %s',
    (location) => {
      const next = redirect({ location })
      expect(next).toMatchObject({ headers: HEADERS.slice(4) })
      expect(JSON.stringify(next)).not.toContain('geheim')
    },
  )

  it('that leaves the body behind leaves behind what speaks of it', () => {
    expect(redirect({ status: 303 })).toMatchObject({ headers: [...HEADERS.slice(0, 4), ['idempotency-key', 'r1']] })
  })
})
