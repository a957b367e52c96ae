/** Channels as they speak on the wire: to real servers on loopback, and to nobody they should not reach. */
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Logger } from '../../src/observe/logger.ts'
import { type ChannelConfig, senderOf } from '../../src/server/alerting/channel.ts'
import { sendHeartbeat } from '../../src/server/alerting/heartbeat.ts'
import { httpSend } from '../../src/server/alerting/http-send.ts'
import type { Message, Outgoing } from '../../src/server/alerting/message.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { type Receiver, receiver, SECRET } from './receiver.ts'

const NOW = Date.parse('2027-01-01T12:00:00Z')
const message: Message = {
  id: 'a1.opened.c1',
  event: 'opened',
  at: NOW,
  alert: {
    ...{ id: 'a1', ruleId: 'default-schedule-not-fired', kind: 'schedule_not_fired', severity: 'critical' },
    ...{ workspace: 'acme', subject: 'schedule s1', title: 'Schedule acme/<!channel> has not fired', state: 'open' },
    values: { schedule: 'acme/<!channel>' },
    openedAt: NOW,
  },
}
const one: Outgoing = { id: message.id, messages: [message] }
const lines: unknown[][] = []
const note = (...line: unknown[]) => void lines.push(line)
const logger: Logger = { debug: note, info: note, warn: note, error: note }

let inbox: Receiver
beforeEach(async () => {
  inbox = await receiver()
  lines.length = 0
})
afterEach(() => inbox[Symbol.asyncDispose]())

const send = (config: ChannelConfig, outgoing: Outgoing = one, allowPrivate = true) =>
  senderOf(
    { id: 'c1', workspace: '', name: 'c', enabled: true, config },
    { clock: fakeClock(NOW), logger, allowPrivate },
  )(outgoing)

describe('a webhook', () => {
  const config = (): ChannelConfig => ({ kind: 'webhook', url: inbox.url, secret: SECRET })

  it('is signed, and carries the id under which it may come again', async () => {
    expect(await send(config())).toEqual({ ok: true })
    expect(inbox.heard).toMatchObject([
      {
        id: 'a1.opened.c1',
        signed: true,
        method: 'POST',
        headers: { 'webhook-timestamp': String(NOW / 1000), 'content-type': 'application/json' },
        body: {
          type: 'alert.opened',
          timestamp: '2027-01-01T12:00:00.000Z',
          data: { id: 'a1.opened.c1', alert: { severity: 'critical', openedAt: '2027-01-01T12:00:00.000Z' } },
        },
      },
    ])
  })

  it.each([
    [500, undefined],
    [404, undefined],
    [429, undefined],
    [410, true],
  ])('that is answered %i has failed', async (status, gone) => {
    inbox.answer = { status, body: 'no\r\nsuch   thing' }
    const delivery = await send(config())
    expect(delivery).toEqual({
      ok: false,
      error: `the receiver answered ${status}: no such thing`,
      ...(gone ? { gone } : {}),
    })
  })

  it('follows no redirect', async () => {
    await using other = await receiver()
    inbox.answer = { status: 307, headers: { location: other.url } }
    expect(await send(config())).toMatchObject({ ok: false, error: 'the receiver answered 307' })
    expect(other.heard).toEqual([])
  })

  it('reads no more than the beginning of an answer', async () => {
    inbox.answer = { status: 500, body: 'x'.repeat(5_000_000) }
    const answer = await httpSend({ url: inbox.url, method: 'POST', allowPrivate: true })
    expect(answer).toEqual({ ok: true, status: 500, text: 'x'.repeat(1024) })
  })

  it('gives up on a receiver that does not answer', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`
    const answer = await httpSend({ url, method: 'GET', allowPrivate: true, timeoutMs: 50 })
    expect(answer).toEqual({ ok: false, error: 'the request timed out' })
    silent.closeAllConnections()
    silent.close()
  })
})

describe('an address that is not public', () => {
  it.each([
    '127.0.0.1',
    '[::1]',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    'localhost',
  ])('is not reached when it is written as %s', async (host) => {
    const url = inbox.url.replace('127.0.0.1', host)
    const refusal = { ok: false, error: expect.stringContaining('the name leads to an address that is not public') }
    expect(await send({ kind: 'webhook', url, secret: SECRET }, one, false)).toEqual(refusal)
    expect(await send({ kind: 'slack', url }, one, false)).toEqual(refusal)
    expect(inbox.heard).toEqual([])
  })

  it('is not reached as a mail server either', async () => {
    const config = { kind: 'email', host: '127.0.0.1', port: 25, secure: false, from: 'a@b.c', to: ['d@e.f'] } as const
    expect(await send({ ...config, user: null, password: null }, one, false)).toMatchObject({
      error: expect.stringMatching(/not public: .*--private-channels/),
    })
  })

  it('that no switch opens is refused without naming one', async () => {
    const url = 'http://169.254.169.254/latest'
    for (const allowed of [false, true])
      expect(await send({ kind: 'webhook', url, secret: SECRET }, one, allowed)).toEqual({
        ok: false,
        error: 'the name leads to an address that is not public',
      })
  })

  it('is reached as the heartbeat that whoever starts the server chose', async () => {
    expect(await sendHeartbeat(inbox.url)).toBeNull()
    expect(inbox.heard).toMatchObject([{ method: 'GET', path: '/hook' }])
    inbox.answer = { status: 404 }
    expect(await sendHeartbeat(inbox.url)).toMatchObject({ message: 'the heartbeat address responded with status 404' })
  })
})

describe('Slack', () => {
  it('is told in its own words, in which a name can call nobody', async () => {
    expect(await send({ kind: 'slack', url: inbox.url })).toEqual({ ok: true })
    const { text } = JSON.parse(inbox.heard[0]!.text) as { text: string }
    expect(text).toContain('*[critical] open: Schedule acme/&lt;!channel&gt; has not fired*')
    expect(text).not.toContain('<!channel>')
  })

  it('hears of many as a list that ends', async () => {
    const messages = Array.from({ length: 100 }, () => message)
    await send({ kind: 'slack', url: inbox.url }, { id: 'digest.1', messages })
    const { text } = JSON.parse(inbox.heard[0]!.text) as { text: string }
    expect(text.split('\n')).toHaveLength(32)
    expect(text).toContain('and 70 more')
  })

  it('is not named in an error by its secret address', async () => {
    const { url } = inbox
    await inbox[Symbol.asyncDispose]()
    const delivery = await send({ kind: 'slack', url: `${url}/T0/B0/geheim` })
    expect(delivery).toEqual({ ok: false, error: 'the connection failed: ECONNREFUSED' })
    inbox = await receiver()
  })
})

describe('the log', () => {
  it('has a line for each message', async () => {
    await send({ kind: 'log' }, { id: 'd', messages: [message, { ...message, event: 'resolved' }] })
    expect(lines.map(([text]) => text)).toEqual([
      'alert [critical] open: Schedule acme/<!channel> has not fired',
      'alert [critical] resolved: Schedule acme/<!channel> has not fired',
    ])
  })
})

describe('e-mail', () => {
  let mails: string[]
  let server: Server
  let answers: Record<string, string>

  /** Enough of SMTP to take a mail. */
  beforeEach(async () => {
    mails = []
    answers = {}
    server = createTcpServer((socket) => {
      let data: string | null = null
      socket.setEncoding('utf8').on('error', () => {})
      socket.write('220 mail.test ESMTP\r\n')
      socket.on('data', (chunk: string) => {
        for (const line of chunk.split(/(?<=\r\n)/)) {
          if (data !== null) {
            data += line
            if (!data.endsWith('\r\n.\r\n')) continue
            mails.push(data)
            data = null
            socket.write('250 taken\r\n')
            continue
          }
          const verb = line.slice(0, 4).toUpperCase()
          if (verb === 'DATA') data = ''
          const usual = verb === 'DATA' ? '354 go on' : verb === 'QUIT' ? '221 bye' : '250 fine'
          socket.write(`${answers[verb] ?? usual}\r\n`)
          if (verb === 'QUIT') socket.end()
        }
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(() => new Promise<void>((resolve) => void server.close(() => resolve())))

  const config = (change: object = {}): ChannelConfig => ({
    ...{ kind: 'email', host: '127.0.0.1', port: (server.address() as AddressInfo).port, secure: false },
    ...{ user: null, password: null, from: 'everytick@example.com', to: ['ana@example.com', 'ben@example.com'] },
    ...change,
  })

  it('goes to everybody named, with an id that stays', async () => {
    expect(await send(config())).toEqual({ ok: true })
    expect(mails).toHaveLength(1)
    expect(mails[0]).toContain('Subject: [critical] open: Schedule acme/<!channel> has not fired')
    expect(mails[0]).toContain('To: ana@example.com, ben@example.com')
    expect(mails[0]).toContain('Message-ID: <a1.opened.c1@everytick>')
    expect(mails[0]).toContain('alert: a1')
  })

  it('that the server does not take has failed, and is told without what it said', async () => {
    answers.RCPT = '550 no such user geheim'
    const delivery = await send(config())
    expect(delivery).toMatchObject({ ok: false, error: expect.stringContaining('550') })
    expect(JSON.stringify(delivery)).not.toContain('geheim')
  })

  it('never sends a password over an open connection', async () => {
    const heard: string[] = []
    server.on('connection', (socket) => socket.on('data', (chunk) => heard.push(String(chunk))))
    const delivery = await send(config({ user: 'u', password: 'geheim' }))
    expect(delivery).toMatchObject({ ok: false })
    const said = heard.join('')
    for (const secret of ['geheim', Buffer.from('geheim').toString('base64'), 'AUTH'])
      expect(said).not.toContain(secret)
    expect(mails).toEqual([])
  })
})
