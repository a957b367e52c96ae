/** The front of `dev`: one address that stays the same across reloads, and forwards bytes to the current child process. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { portProblem } from '../port-problem.ts'

export interface Front {
  readonly port: number
  /** Where to forward connections from now on; null: they wait; `broken`: they get a 503 response. */
  lead(to: number | null | 'broken'): void
  close(): Promise<void>
}

const HOST = '127.0.0.1'
const SORRY = 'Cannot load the project. See the terminal for the error.\n'
const BROKEN = `HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\ncontent-length: ${SORRY.length}\r\nrefresh: 2\r\nconnection: close\r\n\r\n${SORRY}`

export async function openFront(port: number): Promise<Front> {
  const open = new Set<Socket>()
  const waiting = new Set<Socket>()
  let target: number | null | 'broken' = null

  const pass = (socket: Socket): void => {
    if (target === null) return void waiting.add(socket)
    if (target === 'broken') return void socket.end(BROKEN)
    const behind = connect(target, HOST)
    // If one side closes, close the other.
    behind.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.on('close', () => behind.destroy())
    socket.pipe(behind).pipe(socket)
  }
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      open.delete(socket)
      waiting.delete(socket)
    })
    pass(socket)
  })
  await listen(server, port)
  return {
    port: (server.address() as AddressInfo).port,
    lead(to) {
      target = to
      if (to === null) return
      for (const socket of waiting) {
        waiting.delete(socket)
        pass(socket)
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}

const listen = (server: ReturnType<typeof createServer>, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => reject(portProblem(error, port)))
    server.listen(port, HOST, () => resolve())
  })
