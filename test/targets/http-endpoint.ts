/** Endpoints on loopback for HTTP targets to call: one that answers as it is told, and one that speaks bytes; and an app to call them with. */
import { createServer as createHttpServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net'
import { type Everytick, everytick, type Job } from '../../src/index.ts'
import type { Message } from '../../src/targets/message.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'

export interface HeardCall {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: Message
}

export interface Endpoint extends AsyncDisposable {
  readonly url: string
  readonly heard: HeardCall[]
  /** Connections that were made in all. */
  readonly connections: number
  /** Resolves when no connection is open. */
  quiet(): Promise<void>
}

type Respond = (response: ServerResponse, heard: HeardCall, nth: number) => void

/** Calls are counted from 0. */
export async function endpoint(respond: Respond = (response) => void response.end('fine')): Promise<Endpoint> {
  const heard: HeardCall[] = []
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const { headers, url: path = '', method = '' } = request
      const text = Buffer.concat(chunks).toString('utf8')
      const call = { headers, path, method, text, body: text === '' ? null : JSON.parse(text) }
      respond(response, call, heard.push(call) - 1)
    })
  })
  return listening(server, heard)
}

/** Says what it likes to whoever connects. */
export const rawEndpoint = (speak: (socket: Socket) => void): Promise<Endpoint> =>
  listening(
    createRawServer((socket) => {
      socket.on('error', () => {})
      speak(socket)
    }),
    [],
  )

async function listening(server: Server, heard: HeardCall[]): Promise<Endpoint> {
  const open = new Set<Socket>()
  let connections = 0
  let closed = (): void => {}
  server.on('connection', (socket: Socket) => {
    connections++
    open.add(socket)
    socket.on('close', () => {
      open.delete(socket)
      closed()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    heard,
    get connections() {
      return connections
    },
    async quiet() {
      while (open.size > 0) {
        await new Promise<void>((resolve) => {
          closed = resolve
        })
      }
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const STORES = ['sqlite', 'postgres'] as const
const silent = { debug() {}, info() {}, warn() {}, error() {} }

export interface Place extends AsyncDisposable {
  readonly app: Everytick
}

/** An app that is started, and gone afterwards with its database. */
export async function started(jobs: readonly Job[], store: (typeof STORES)[number] = 'sqlite'): Promise<Place> {
  const database = store === 'postgres' ? await createReadyDatabase() : null
  const app = everytick({ store: database?.url ?? 'sqlite::memory:', jobs, logger: silent })
  await app.start()
  return {
    app,
    async [Symbol.asyncDispose]() {
      await app.stop()
      await database?.drop()
    },
  }
}
