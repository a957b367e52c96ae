import { describe, expect, it } from 'vitest'
import { EverytickError } from '../../errors.ts'
import type { Client } from './client.ts'
import { createHosts } from './hosts.ts'

type Kind = 'primary' | 'standby' | 'away' | 'denied'

const replaced = (server: string) => new EverytickError('STORE_STANDBY', `${server} is an old primary server`)

const urlOf = (host: string): string => `postgres://${host}/db`
const hostOf = (url: string): string => new URL(url).host

/** Servers as the driver shows them. */
function servers(kinds: Readonly<Record<string, Kind>>) {
  const now = Object.fromEntries(Object.entries(kinds).map(([host, kind]) => [urlOf(host), kind]))
  const asked: string[] = []
  const hosts = createHosts(Object.keys(now) as [string, ...string[]])
  const take = async (): Promise<Client> => {
    const { url } = hosts
    asked.push(url)
    if (now[url] === 'away') throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    if (now[url] === 'denied') throw Object.assign(new Error('no'), { code: '28P01', severity: 'FATAL' })
    const client = idle.pop() ?? ({ release: () => released.push(url), on() {} } as Partial<Client> as Client)
    if (!leadsTo.has(client)) leadsTo.set(client, url)
    return client
  }
  /** Clients of before, which a pool hands out first. */
  const idle: Client[] = []
  const leadsTo = new Map<Client, string>()
  const released: string[] = []
  const admit = async (client: Client, server: string): Promise<void> => {
    if (now[leadsTo.get(client)!] === 'standby') throw replaced(server)
  }
  const change = (kinds: Readonly<Record<string, Kind>>): void => {
    for (const [host, kind] of Object.entries(kinds)) now[urlOf(host)] = kind
  }
  return { hosts, change, asked, idle, released, connect: () => hosts.connect(take, admit) }
}

describe('several hosts', () => {
  it('are tried in turn until one is a primary, which is tried first from then on', async () => {
    const { connect, asked, hosts } = servers({ a: 'away', b: 'standby', c: 'primary' })
    await connect()
    await connect()
    expect([asked, hosts.url].flat().map(hostOf)).toEqual(['a', 'b', 'c', 'c', 'c'])
  })

  it('are tried again when the primary becomes a standby', async () => {
    const { connect, asked, change } = servers({ a: 'primary', b: 'standby' })
    await connect()
    change({ a: 'standby', b: 'primary' })
    await connect()
    expect(asked.map(hostOf)).toEqual(['a', 'a', 'b'])
  })

  it('are passed once by connections that fail at the same time', async () => {
    const { connect, asked, hosts } = servers({ a: 'away', b: 'primary' })
    await Promise.all([connect(), connect(), connect()])
    expect(asked.map(hostOf)).toEqual(['a', 'a', 'a', 'b', 'b', 'b'])
    expect(hostOf(hosts.url)).toBe('b')
  })

  it('say that none is a primary, after each was tried twice', async () => {
    const { connect, asked } = servers({ a: 'standby', b: 'standby' })
    await expect(connect()).rejects.toMatchObject({
      code: 'STORE_UNREACHABLE',
      message:
        'no host of the address is a primary that answers: a is an old primary server; b is an old primary server',
    })
    expect(asked.map(hostOf)).toEqual(['a', 'b', 'a', 'b'])
  })

  it('say of each why it is refused', async () => {
    const { connect, released } = servers({ a: 'standby', b: 'away' })
    await expect(connect()).rejects.toMatchObject({
      code: 'STORE_UNREACHABLE',
      message: expect.stringMatching(/: a is an old primary server; b does not listen/),
    })
    expect(released.map(hostOf)).toEqual(['a', 'a'])
  })

  it('are not passed because an idle connection leads to a server that was replaced', async () => {
    const { connect, asked, idle, hosts, change } = servers({ a: 'primary', b: 'away' })
    const old = await Promise.all(Array.from({ length: 5 }, connect))
    change({ a: 'away', b: 'primary' })
    await connect()
    change({ a: 'standby' })
    idle.push(...old)
    asked.length = 0
    await connect()
    expect([asked.map(hostOf), hostOf(hosts.url)]).toEqual([Array(6).fill('b'), 'b'])
  })

  it('are not all tried with a password that the first refuses', async () => {
    const { connect, asked } = servers({ a: 'denied', b: 'primary' })
    await expect(connect()).rejects.toMatchObject({ code: '28P01' })
    expect(asked.map(hostOf)).toEqual(['a'])
  })
})
