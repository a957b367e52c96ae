/** Sends one request and hears its answer, of which it reads no more than is kept; what the answer means is decided in `answer.ts`. */
import type { Dispatcher } from 'undici'
import type { Timers } from '../../time/timers.ts'
import { isTimeout } from './failure.ts'

export interface Sent {
  readonly url: URL
  readonly method: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | null
}

export interface Heard {
  readonly status: number
  /** With names in small letters; what came several times, joined by commas. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Whether the answer was longer, or broke off. */
  readonly truncated: boolean
}

/** Of a body no more is kept. */
export const MAX_BODY_BYTES = 8 * 1024
/** An answer that is not much longer is read to its end, so that its connection can be used again. */
const MAX_READ_BYTES = 64 * 1024
/** A refusal is one by its status; what is said besides is only waited for so long. */
export const REFUSAL_MS = 2000

/** The parts of undici that a call needs. */
export type Way = Pick<Dispatcher, 'dispatch'>

export interface Calling {
  readonly signal: AbortSignal
  readonly timers: Timers
}

/** Rejects with the reason of the signal, or with whatever kept the answer from coming. */
export function call(way: Way, sent: Sent, { signal, timers }: Calling): Promise<Heard> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null
    let over = false
    let status = 0
    let headers: Heard['headers'] = {}
    let chunks: Buffer[] = []
    let bytes = 0
    let cancelTimer = (): void => {}

    const end = (finish: () => void): void => {
      if (over) return
      over = true
      cancelTimer()
      signal.removeEventListener('abort', aborted)
      finish()
      chunks = []
    }
    const answered = (truncated: boolean): void =>
      end(() => resolve({ status, headers, body: Buffer.concat(chunks), truncated }))
    const hangUp = (): void => controller?.abort(new Error('the rest of the response is not read'))
    const aborted = (): void => {
      // Its time was up, but not before it was refused.
      if (status >= REFUSES && isTimeout(signal.reason)) answered(true)
      else end(() => reject(signal.reason))
      hangUp()
    }
    const cutShort = (): void => {
      answered(true)
      hangUp()
    }
    if (signal.aborted) return aborted()
    signal.addEventListener('abort', aborted)

    const { url, method, body } = sent
    const request = {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: method as Dispatcher.HttpMethod,
      headers: sent.headers.flat(),
      body,
      // The attempt has a timeout, which ends all of it.
      ...{ headersTimeout: 0, bodyTimeout: 0 },
    }
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(its) {
        controller = its
        // Broken off while it was still connecting.
        if (over) hangUp()
      },
      onResponseStart(_, itsStatus, itsHeaders) {
        // Those below 200 only announce the answer.
        if (over || itsStatus < 200) return
        status = itsStatus
        headers = plainHeaders(itsHeaders)
        if (status >= REFUSES) cancelTimer = timers.set(REFUSAL_MS, cutShort)
      },
      onResponseData(_, chunk) {
        if (over) return
        if (bytes < MAX_BODY_BYTES) chunks.push(Buffer.from(chunk.subarray(0, MAX_BODY_BYTES - bytes)))
        bytes += chunk.length
        if (bytes < MAX_BODY_BYTES || endsSoon(headers, bytes)) return
        cutShort()
      },
      onResponseEnd: () => answered(bytes > MAX_BODY_BYTES),
      onResponseError(_, error) {
        // A refusal is one by its status alone; a success counts only with all that we keep of it.
        const saidEnough = status >= REFUSES || (status >= 200 && bytes >= MAX_BODY_BYTES)
        if (saidEnough) answered(true)
        else end(() => reject(error))
      },
    }
    try {
      way.dispatch(request, handler)
    } catch (error) {
      end(() => reject(error))
    }
  })
}

/** From here on answers are no success; those of redirects are not read either. */
const REFUSES = 300

function endsSoon(headers: Heard['headers'], bytes: number): boolean {
  const length = Number(headers['content-length'] ?? Number.NaN)
  return length <= MAX_READ_BYTES && bytes <= length
}

const plainHeaders = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
