/** A relay before a database that can cut its connections or hold them back without a word, as networks do. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Relay {
  /** The address of the database, through this relay. */
  readonly url: string
  /** `cut`: connections end, and new ones at once. `silent`: nothing passes, and nobody is told. */
  turn(how: 'whole' | 'cut' | 'silent'): void
  close(): Promise<void>
}

export async function relayTo(address: string): Promise<Relay> {
  const target = new URL(address)
  const sockets = new Set<Socket>()
  let now: 'whole' | 'cut' | 'silent' = 'whole'
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    keep(near)
    if (now === 'cut') {
      near.destroy()
      return
    }
    const far = connect(Number(target.port || 5432), target.hostname)
    keep(far)
    const pass = (from: Socket, to: Socket): void => {
      from.on('data', (data) => {
        if (now !== 'silent') to.write(data)
      })
      from.once('close', () => to.destroy())
    }
    pass(near, far)
    pass(far, near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(address)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  const end = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    turn(how) {
      // What was swallowed while it was silent is lost: those connections are of no use any more.
      if (how === 'cut' || now === 'silent') end()
      now = how
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      end()
      await closed
    },
  }
}
