/** A small name server on loopback that says what a test tells it to, and counts what it is asked. */
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'

export interface NameServer extends AsyncDisposable {
  /** Each question about a name takes the next answer, and the last one stays. */
  readonly names: Map<string, (readonly string[])[]>
  /** The questions so far, such as `A hook.test`. */
  readonly asked: string[]
  /** What a guard takes as `resolve`: asks this server for addresses of both kinds, or only one. */
  resolve(host: string): Promise<readonly { address: string; family: number }[]>
  resolveOnly(family: 4 | 6): NameServer['resolve']
}

const TYPES: Readonly<Record<number, string>> = { 1: 'A', 28: 'AAAA' }

export async function nameServer(): Promise<NameServer> {
  const names: NameServer['names'] = new Map()
  const asked: string[] = []
  const socket = createSocket('udp4', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query)
    asked.push(`${TYPES[type] ?? type} ${name}`)
    const answers = names.get(name) ?? [[]]
    const now = (answers.length > 1 ? answers.shift() : answers[0]) ?? []
    const fitting = now.filter((each) => (isIPv6(each) ? 28 : 1) === type)
    socket.send(
      Buffer.concat([headerOf(query, fitting.length), query.subarray(12, end), ...fitting.map(record)]),
      port,
      address,
    )
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const resolver = new Resolver()
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  const resolveOnly: NameServer['resolveOnly'] = (family) => async (host) => {
    const found = await (family === 4 ? resolver.resolve4(host) : resolver.resolve6(host)).catch(none)
    return found.map((address) => ({ address, family }))
  }
  return {
    names,
    asked,
    resolveOnly,
    resolve: async (host) => [...(await resolveOnly(6)(host)), ...(await resolveOnly(4)(host))],
    [Symbol.asyncDispose]: () => new Promise((resolve) => void socket.close(() => resolve())),
  }
}

function none(error: { readonly code?: string }): string[] {
  if (error.code === 'ENODATA') return []
  throw error
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  while (query[at] !== 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
    at += 1 + query[at]!
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** The same id; an answer, without error; one question and so many answers. */
function headerOf(query: Buffer, answers: number): Buffer {
  const header = Buffer.alloc(12)
  query.copy(header, 0, 0, 2)
  header.writeUInt16BE(0x8180, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(answers, 6)
  return header
}

/** The name of the question, good for no time at all. */
function record(address: string): Buffer {
  const data = bytesOf(address)
  const head = Buffer.from([0xc0, 0x0c, 0, data.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length])
  return Buffer.concat([head, data])
}

function bytesOf(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail = ''] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::')
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((each) => Number.parseInt(each, 16))
  const [before, after] = [groups(head), groups(tail)]
  const all = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after]
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]))
}
