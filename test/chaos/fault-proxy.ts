/** A TCP proxy in front of a server that can lose what is sent in either direction, or reset every connection; what is sent it does not read. */

import type { AddressInfo } from 'node:net'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** `requests` and `answers` lose one direction only; `reset` ends connections, and refuses new ones, with a TCP reset. */
export type Fault = 'black hole' | 'requests' | 'answers' | 'reset'

export interface FaultProxy {
  /** The address of the server with the host and port of the proxy. */
  readonly url: string
  cut(fault: Fault): void
  /** New connections work again. Those that the fault met stay dead, as behind a firewall that forgot them. */
  heal(): void
  close(): Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

export async function openFaultProxy(serverUrl: string): Promise<FaultProxy> {
  const target = new URL(serverUrl)
  const pairs = new Set<Pair>()
  const sockets = new Set<Socket>()
  let fault: Fault | null = null

  const lose = (pair: Pair, which: Fault): void => {
    const { client, server } = pair
    if (which === 'reset') {
      for (const socket of [client, server]) socket.resetAndDestroy()
      return
    }
    // Reading goes on, so that neither end notices by a full buffer.
    if (which !== 'answers') client.unpipe(server).resume()
    if (which !== 'requests') server.unpipe(client).resume()
  }

  const listener: Server = createServer({ allowHalfOpen: true }, (client) => {
    if (fault === 'reset') {
      client.on('error', () => {})
      client.resetAndDestroy()
      return
    }
    const server = connect({ host: target.hostname, port: Number(target.port), allowHalfOpen: true })
    const pair = { client, server }
    pairs.add(pair)
    for (const socket of [client, server]) sockets.add(socket)
    for (const socket of [client, server]) {
      socket.on('error', () => {})
      socket.once('close', () => {
        pairs.delete(pair)
        sockets.delete(socket)
        // The end of one side is no news for the other while its direction is lost.
        if (fault === null) for (const other of [client, server]) other.destroy()
      })
    }
    client.pipe(server)
    server.pipe(client)
    if (fault !== null) lose(pair, fault)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const url = new URL(serverUrl)
  url.hostname = '127.0.0.1'
  url.port = String((listener.address() as AddressInfo).port)

  return {
    url: url.href,
    cut(which) {
      fault = which
      for (const pair of [...pairs]) lose(pair, which)
    },
    heal() {
      fault = null
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}
