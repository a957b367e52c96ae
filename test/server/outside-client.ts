/** Sends requests from a thread of its own, so that what a client does is no part of what the server's thread did. */
import { Worker } from 'node:worker_threads'

export interface OutsideRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface OutsideAnswer {
  readonly status: number
  readonly bytes: number
  /** The beginning of the body. */
  readonly text: string
}

export interface OutsideClient extends AsyncDisposable {
  send(request: OutsideRequest): Promise<OutsideAnswer>
}

/** A stream that stays open is left after this. */
const LEAVE_MS = 300

const THREAD = `
const { parentPort } = require('node:worker_threads')
const http = require('node:http')
const agent = new http.Agent({ keepAlive: true })
parentPort.on('message', ({ id, method, url, headers, body }) => {
  let bytes = 0, text = '', status = 0, isOver = false
  const end = () => { if (!isOver) { isOver = true; parentPort.postMessage({ id, status, bytes, text }) } }
  const request = http.request(url, { method, headers, agent }, (response) => {
    status = response.statusCode
    const isStream = /event-stream|ndjson/.test(response.headers['content-type'] ?? '')
    if (isStream) setTimeout(() => { request.destroy(); end() }, ${LEAVE_MS})
    response.on('data', (chunk) => { bytes += chunk.length; if (text.length < 2000) text += chunk.toString() })
    response.on('end', end)
    response.on('error', end)
  })
  request.on('error', (error) => { text = text || String(error); end() })
  request.end(body)
})`

export function outsideClient(): OutsideClient {
  const worker = new Worker(THREAD, { eval: true })
  const waiting = new Map<number, (answer: OutsideAnswer) => void>()
  let count = 0
  worker.on('message', ({ id, ...answer }: OutsideAnswer & { id: number }) => {
    waiting.get(id)?.(answer)
    waiting.delete(id)
  })
  return {
    send: (request) =>
      new Promise((resolve) => {
        const id = ++count
        waiting.set(id, resolve)
        worker.postMessage({ id, ...request })
      }),
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}
