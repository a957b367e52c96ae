/** The pages in a browser: what a person without a session sees, how they sign in, and who cannot. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStage, STORES, type Stage } from './stage.ts'

const HTML = { accept: 'text/html,application/xhtml+xml' }

describe.each(STORES)('signing a browser in on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store, { basePath: '/jobs' })
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const get = (path: string, headers: Record<string, string> = HTML) =>
    stage.server.fetch(new Request(`http://app.example${path}`, { headers: { host: 'app.example', ...headers } }))
  const post = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    stage.server.fetch(
      new Request('http://app.example/jobs/sign-in', {
        method: 'POST',
        headers: { host: 'app.example', origin: 'http://app.example', ...HTML, ...headers },
        body: new URLSearchParams(fields),
      }),
    )

  it.each(['/jobs', '/jobs/api/docs'])('%s asks a person for a key', async (path) => {
    const page = await get(path)
    const text = await page.text()
    expect([page.status, page.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8'])
    expect(text).toContain('<form method="post" action="/jobs/sign-in">')
    expect(text).not.toMatch(/<script|src=|<link/)
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self'; frame-ancestors 'none'")
    // A browser hides the origin of the form otherwise, and it would be refused.
    expect(page.headers.get('referrer-policy')).toBe('same-origin')
  })

  it('opens the page that was asked for, with a cookie that scripts and other sites do not get', async () => {
    const signedIn = await post({ key: ` ${stage.tokens.read!} `, page: '/api/docs' })
    expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, '/jobs/api/docs'])
    const cookie = signedIn.headers.get('set-cookie')!
    expect(cookie).toMatch(/^everytick_session=[\w-]+; Path=\/jobs; Max-Age=43200; HttpOnly; SameSite=Strict$/)
    expect(cookie).not.toContain(stage.tokens.read)
    const headers = { ...HTML, cookie: cookie.split(';')[0]! }
    const page = await get('/jobs/api/docs', headers)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('openapi.json')])
    expect((await get('/jobs/api/v1/openapi.json', headers)).status).toBe(200)
  })

  it.each<[string, string, Record<string, string>, boolean]>([
    ['over https', 'https', {}, true],
    ['through a proxy that ends https', 'http', { 'x-forwarded-proto': 'https' }, true],
    ['through two proxies of which the first ends https', 'http', { 'x-forwarded-proto': 'https, http' }, true],
    ['over http', 'http', {}, false],
    ['through a proxy over http', 'http', { 'x-forwarded-proto': 'http, https' }, false],
  ])('%s, marks the cookie Secure where it can: %s', async (_, scheme, headers, isSecure) => {
    const request = new Request(`${scheme}://app.example/jobs/sign-in`, {
      method: 'POST',
      headers: { host: 'app.example', origin: `${scheme}://app.example`, ...headers },
      body: new URLSearchParams({ key: stage.tokens.read! }),
    })
    const answer = await stage.server.fetch(request)
    expect(answer.status).toBe(303)
    expect(/; Secure$/.test(answer.headers.get('set-cookie')!)).toBe(isSecure)
  })

  it('asks again after a wrong key, and makes whoever guesses wait', async () => {
    const wrong = await post({ key: 'evt_ad_wrong', page: '/' })
    expect([wrong.status, await wrong.text()]).toEqual([401, expect.stringContaining('invalid, expired or revoked')])
    const from = (key: string) =>
      stage.server.fetch(
        new Request('http://app.example/jobs/sign-in', { method: 'POST', body: new URLSearchParams({ key }) }),
        { incoming: { socket: { remoteAddress: '192.0.2.9' } } },
      )
    for (let i = 0; i < 10; i++) expect((await from('evt_ad_wrong')).status).toBe(401)
    expect((await from('evt_ad_wrong')).status).toBe(429)
  })

  it.each<[string, Record<string, string>, number]>([
    ['another site', { origin: 'http://evil.example' }, 403],
    ['a page that hides where it is', { origin: 'null' }, 403],
    ['a cross-site form without an origin', { 'sec-fetch-site': 'cross-site' }, 403],
    ['what is no form', { 'content-type': 'text/plain' }, 415],
  ])('refuses %s', async (_, headers, status) => {
    const answer = await post({ key: stage.tokens.read! }, headers)
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([status, null])
  })

  it('leads nowhere but to pages of its own', async () => {
    for (const page of ['//evil.example', 'https://evil.example', '/api/docs/../../x', ''])
      expect((await post({ key: stage.tokens.read!, page })).headers.get('location')).toBe('/jobs')
  })

  it('goes on answering programs with a problem', async () => {
    const answer = await get('/jobs/api/docs', { accept: '*/*' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      401,
      'application/problem+json; charset=utf-8',
    ])
  })

  it('asks for no key where the host says who asks', async () => {
    const { server } = await stage.another({ backgroundTasks: false, authorize: () => 'none' })
    const answer = await server.fetch(new Request('http://app.example/api/docs', { headers: HTML }))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      401,
      'application/problem+json; charset=utf-8',
    ])
  })
})
