/** The guard against calls into the house: every address below is tried for real, and a server that listens there hears nothing. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createGuard, type Guard, type GuardOptions } from '../../src/targets/guard/guard.ts'
import type { ConnectOptions } from '../../src/targets/guard/open-socket.ts'
import { nextRequest } from '../../src/targets/guard/redirect.ts'
import { CERTIFICATE, KEY } from './guard-certificate.ts'
import { HOSTILE } from './guard-hostile.ts'
import { type NameServer, nameServer } from './guard-name-server.ts'

/** On both loopback addresses, at the same port. */
let house: Server[]
let port: number
let connections = 0
let heard: IncomingMessage[]
let names: NameServer
const agents: Agent[] = []

beforeAll(async () => {
  names = await nameServer()
  house = ['127.0.0.1', '::1'].map(() => {
    const server = createServer((incoming, answer) => {
      heard.push(incoming)
      const to = new URL(incoming.url ?? '/', 'http://x').searchParams.get('to')
      answer.writeHead(to === null ? 200 : 307, to === null ? {} : { location: to }).end('inside')
    })
    return server.on('connection', () => connections++)
  })
  house[0]!.listen(0, '127.0.0.1')
  await once(house[0]!, 'listening')
  port = (house[0]!.address() as AddressInfo).port
  // A machine may have no IPv6: then there is nobody to be reached that way.
  await new Promise<void>((resolve) => house[1]!.on('error', () => resolve()).listen(port, '::1', resolve))
})
beforeEach(() => {
  connections = 0
  heard = []
  names.asked.length = 0
})
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.destroy()))
  for (const server of house) server.closeAllConnections()
  for (const server of house) server.close()
  await names[Symbol.asyncDispose]()
})

/** Every call with connections of its own. */
function calling(options: GuardOptions, connect: ConnectOptions = {}) {
  const guard = createGuard(options)
  const agent = new Agent({ connect: guard.connector(connect) })
  agents.push(agent)
  return { guard, call: (url: string | URL) => request(url, { dispatcher: agent }) }
}

const refusal = expect.objectContaining({ code: 'TARGET_REFUSED' })

describe('a hostile address', () => {
  it.each(HOSTILE)('that is %s is refused: %j', async (_, template) => {
    const url = template.replace('*', String(port))
    const { guard, call } = calling({})
    expect(() => guard.check(url)).toThrow(refusal)
    // And again by the connection itself, for whoever does not ask first; what undici cannot read is refused by undici.
    await expect(Promise.resolve().then(() => call(url))).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:TARGET_REFUSED|UND_ERR_INVALID_ARG|ERR_INVALID_URL)$/),
    })
    expect(connections).toBe(0)
  })

  it.each([
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '１２７.０.０.１',
    '%31%32%37.0.0.1',
    'localhost',
  ])('would be reached without the guard, such as %s', async (host) => {
    const agent = new Agent()
    agents.push(agent)
    const { body } = await request(`http://${host}:${port}/`, { dispatcher: agent })
    expect(await body.text()).toBe('inside')
  })
})

describe('a name', () => {
  it.each([
    ['loopback', ['127.0.0.1']],
    ['loopback of IPv6', ['::1']],
    ['mapped loopback', ['::ffff:127.0.0.1']],
    ['NAT64 of loopback', ['64:ff9b::127.0.0.1']],
    ['everything', ['0.0.0.0']],
    ['a private address', ['10.0.0.1']],
    ['metadata of a cloud', ['169.254.169.254']],
    ['a unique local address', ['fd12::1']],
    ['a public and a private address', ['8.8.8.8', '127.0.0.1']],
    ['a private and a public address', ['127.0.0.1', '8.8.8.8']],
    ['a public address, and loopback of IPv6', ['8.8.8.8', '::1']],
  ])('that leads to %s is refused', async (_, addresses) => {
    names.names.set('hook.test', [addresses])
    const { guard, call } = calling({ resolve: names.resolve })
    expect(guard.check(`http://hook.test:${port}/`).hostname).toBe('hook.test')
    await expect(call(`http://hook.test:${port}/`)).rejects.toThrow(refusal)
    await expect(call(`http://hook.test.:${port}/`)).rejects.toThrow(refusal)
    expect(connections).toBe(0)
  })

  it('that leads nowhere is not called', async () => {
    names.names.set('hook.test', [[]])
    const { call } = calling({ resolve: names.resolve })
    await expect(call(`http://hook.test:${port}/`)).rejects.toThrow('the name has no address')
  })

  it('is not waited for when the name server is silent', async () => {
    const { call } = calling({ resolve: () => new Promise(() => {}) }, { timeoutMs: 10 })
    await expect(call(`http://hook.test:${port}/`)).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  })

  it('is asked for once, and connected to where it led then', async () => {
    // An address that nobody has, and then, for whoever asks again, the house.
    names.names.set('rebind.test', [['3ffe::1'], ['::1']])
    const { call } = calling({ resolve: names.resolveOnly(6) }, { timeoutMs: 100 })
    const failed = await call(`http://rebind.test:${port}/`).catch((error: unknown) => error)
    expect(failed).not.toMatchObject({ code: 'TARGET_REFUSED' })
    expect(names.asked).toEqual(['AAAA rebind.test'])
    expect(connections).toBe(0)
    // The next connection asks again, and is refused.
    await expect(calling({ resolve: names.resolve }).call(`http://rebind.test:${port}/`)).rejects.toThrow(refusal)
    expect(connections).toBe(0)
  })

  it('that is rebound between asking and connecting reaches only what was checked', async () => {
    names.names.set('rebind.test', [['127.0.0.1'], ['127.0.0.2']])
    const { call } = calling({ resolve: names.resolveOnly(4), allow: ['127.0.0.1'] })
    const { body } = await call(`http://rebind.test:${port}/`)
    expect(await body.text()).toBe('inside')
    expect(heard[0]!.socket.localAddress).toBe('127.0.0.1')
    expect(names.asked).toEqual(['A rebind.test'])
  })

  it('is reached at its next address when nobody answers at the first', async () => {
    const only = createServer((_, answer) => void answer.end('second')).listen(0, '127.0.0.1')
    await once(only, 'listening')
    names.names.set('hook.test', [['::1', '127.0.0.1']])
    const { call } = calling({ resolve: names.resolve, allowPrivate: true })
    const { body } = await call(`http://hook.test:${(only.address() as AddressInfo).port}/`)
    expect(await body.text()).toBe('second')
    only.closeAllConnections()
    only.close()
  })
})

describe('what was allowed', () => {
  it.each([
    ['a host', ['localhost'], 'localhost'],
    ['a name', ['hook.test'], 'hook.test'],
    ['a name and a dot', ['hook.test'], 'hook.test.'],
    ['names below', ['*.test'], 'hook.test'],
    ['an address', ['127.0.0.1'], '127.0.0.1'],
    ['an address in other words', ['127.0.0.1'], '2130706433'],
    ['a range', ['127.0.0.0/8'], '127.0.0.1'],
    ['a range to which a name leads', ['127.0.0.0/8'], 'hook.test'],
  ])('is called: %s', async (_, allow, host) => {
    names.names.set('hook.test', [['127.0.0.1']])
    const resolve = host === 'localhost' ? {} : { resolve: names.resolve }
    const { guard, call } = calling({ allow, ...resolve })
    const { body } = await call(guard.check(`http://${host}:${port}/`))
    expect(await body.text()).toBe('inside')
    expect(heard[0]!.headers.host).toBe(new URL(`http://${host}:${port}/`).host)
  })

  it('is called at its port only', async () => {
    const { guard, call } = calling({ allow: [`127.0.0.1:${port}`] })
    expect((await call(`http://127.0.0.1:${port}/`)).statusCode).toBe(200)
    expect(() => guard.check('http://127.0.0.1:8080/')).toThrow(refusal)
    await expect(call(`http://[::1]:${port}/`)).rejects.toThrow(refusal)
  })

  it('is everything in the house but its metadata, when private addresses are', async () => {
    names.names.set('hook.test', [['127.0.0.1']])
    const { guard, call } = calling({ allowPrivate: true, resolve: names.resolve })
    expect((await call(`http://127.0.0.1:${port}/`)).statusCode).toBe(200)
    expect((await call(`http://hook.test:${port}/`)).statusCode).toBe(200)
    expect(() => guard.check('http://169.254.169.254/')).toThrow(refusal)
    names.names.set('cloud.test', [['169.254.169.254']])
    await expect(call('http://cloud.test/')).rejects.toThrow(refusal)
  })
})

describe('a redirect', () => {
  /** As a target follows them: each address is checked before it is called. */
  async function follow({ guard, call }: { guard: Guard; call: ReturnType<typeof calling>['call'] }, start: string) {
    let url = guard.check(start)
    for (;;) {
      const { statusCode: status, headers, body } = await call(url)
      await body.dump()
      if (status < 300) return status
      const next = nextRequest({ from: url, status, location: String(headers.location), method: 'GET', headers: [] })
      if (next.kind === 'refused') return next.reason
      url = guard.check(next.url)
    }
  }

  it.each([
    'http://127.0.0.1:*/',
    '//127.0.0.1:*/',
    'http://[::1]:*/',
    'http://2130706433:*/',
    'http://[::ffff:127.0.0.1]:*/',
    'http://localhost.:*/',
    'http://user@hook.test:*/',
    'file:///etc/passwd',
  ])('into the house is refused: %s', async (template) => {
    let reached = 0
    const inside = createServer()
      .on('connection', () => reached++)
      .listen(0, '127.0.0.1')
    await once(inside, 'listening')
    names.names.set('hook.test', [['127.0.0.1']])
    const to = template.replace('*', String((inside.address() as AddressInfo).port))
    const outside = calling({ allow: [`hook.test:${port}`], resolve: names.resolve })
    const start = `http://hook.test:${port}/?to=${encodeURIComponent(to)}`
    await expect(follow(outside, start)).rejects.toThrow(refusal)
    expect(heard).toHaveLength(1)
    expect(reached).toBe(0)
    inside.close()
  })

  it('to what may be called is followed', async () => {
    names.names.set('hook.test', [['127.0.0.1']])
    const outside = calling({ allow: [`hook.test:${port}`], resolve: names.resolve })
    expect(await follow(outside, `http://hook.test:${port}/?to=/there`)).toBe(200)
    expect(heard.map(({ url }) => url)).toEqual(['/?to=/there', '/there'])
  })
})

describe('an encrypted connection', () => {
  let server: ReturnType<typeof createSecureServer>
  let securePort: number
  let asked: (string | false | null)[]

  beforeAll(async () => {
    server = createSecureServer({ key: KEY, cert: CERTIFICATE }, (incoming, answer) => {
      asked.push((incoming.socket as TLSSocket).servername ?? null)
      answer.end('inside')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    securePort = (server.address() as AddressInfo).port
  })
  beforeEach(() => {
    asked = []
    for (const name of ['hook.test', 'other.test']) names.names.set(name, [['127.0.0.1']])
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const secure = () => calling({ resolve: names.resolve, allowPrivate: true }, { tls: { ca: CERTIFICATE } })

  it.each(['hook.test', 'hook.test.'])(
    'asks for the certificate of the name, though it goes to an address: %s',
    async (host) => {
      expect((await secure().call(`https://${host}:${securePort}/`)).statusCode).toBe(200)
      expect(asked).toEqual(['hook.test'])
    },
  )

  it('does not take the certificate of another', async () => {
    await expect(secure().call(`https://other.test:${securePort}/`)).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
    await expect(secure().call(`https://127.0.0.1:${securePort}/`)).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
    expect(asked).toEqual([])
  })

  it('does not take a certificate that nobody vouches for', async () => {
    const { call } = calling({ resolve: names.resolve, allowPrivate: true })
    await expect(call(`https://hook.test:${securePort}/`)).rejects.toThrow()
    expect(asked).toEqual([])
  })
})
