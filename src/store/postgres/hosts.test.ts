import { describe, expect, it } from 'vitest'
import type { Client } from './client.ts'
import { createHosts } from './hosts.ts'

type Kind = 'primary' | 'standby' | 'away' | 'denied'

/** Servers as the driver shows them. */
function servers(kinds: Readonly<Record<string, Kind>>) {
  const now = { ...kinds }
  const asked: string[] = []
  const hosts = createHosts(Object.keys(kinds) as [string, ...string[]])
  const take = async (): Promise<Client> => {
    const { url } = hosts
    asked.push(url)
    if (now[url] === 'away') throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    if (now[url] === 'denied') throw Object.assign(new Error('no'), { code: '28P01', severity: 'FATAL' })
    const query = async () => ({ rows: [{ standby: now[url] === 'standby' }] })
    return { query, release() {}, on() {} } as Partial<Client> as Client
  }
  return { hosts, now, asked, connect: () => hosts.connect(take) }
}

describe('several hosts', () => {
  it('are tried in turn until one is a primary, which is tried first from then on', async () => {
    const { connect, asked, hosts } = servers({ a: 'away', b: 'standby', c: 'primary' })
    await connect()
    await connect()
    expect({ asked, url: hosts.url }).toEqual({ asked: ['a', 'b', 'c', 'c'], url: 'c' })
  })

  it('are tried again when the primary becomes a standby', async () => {
    const { connect, asked, now } = servers({ a: 'primary', b: 'standby' })
    await connect()
    Object.assign(now, { a: 'standby', b: 'primary' })
    await connect()
    expect(asked).toEqual(['a', 'a', 'b'])
  })

  it('are passed once by connections that fail at the same time', async () => {
    const { connect, hosts } = servers({ a: 'away', b: 'primary' })
    await Promise.all([connect(), connect(), connect()])
    expect(hosts.url).toBe('b')
  })

  it('say that none is a primary, after each was tried twice', async () => {
    const { connect, asked } = servers({ a: 'standby', b: 'standby' })
    await expect(connect()).rejects.toMatchObject({
      code: 'STORE_UNREACHABLE',
      message: expect.stringMatching(/primary/),
    })
    expect(asked).toEqual(['a', 'b', 'a', 'b'])
  })

  it('are not all tried with a password that the first refuses', async () => {
    const { connect, asked } = servers({ a: 'denied', b: 'primary' })
    await expect(connect()).rejects.toMatchObject({ code: '28P01' })
    expect(asked).toEqual(['a'])
  })
})
