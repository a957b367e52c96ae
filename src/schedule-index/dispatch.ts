/** Sends each due row to one address, at most once: how many at a time and what came of each; what is due is decided by the index. */
import { EverytickError, shown } from '../errors.ts'
import { printable } from '../printable.ts'
import { systemClock } from '../time/clock.ts'
import { parseDuration } from '../time/duration.ts'
import type { ScheduleIndex, ScheduleIndexRow } from './contract.ts'

export interface Dispatch {
  /** As it was claimed: `nextFireAt` is the occurrence that was due. */
  readonly row: ScheduleIndexRow
  /** The status of the answer, or 0 when there was none. */
  readonly status: number
  /** Why there was no answer. */
  readonly error?: unknown
}

export interface DispatchOptions {
  readonly index: ScheduleIndex
  /** Where each row is posted to, as JSON. */
  readonly url: string
  /** Called once for every row that was claimed; logs a warning for each that was not delivered by default. If it throws, `dispatchDue` throws that error after every row was sent. */
  readonly onDispatch?: (dispatch: Dispatch) => void | Promise<void>
  /** Epoch milliseconds; the machine's clock when absent. */
  readonly now?: number
  /** How many rows at most; the index's own default when absent. */
  readonly limit?: number
  readonly headers?: Readonly<Record<string, string>>
  /** How many requests at a time; 10 when absent. */
  readonly concurrency?: number
  /** How long one answer may take; '30s' when absent. */
  readonly timeout?: string
  /** The global one when absent. */
  readonly fetch?: Fetch
}

/** As much of `fetch` as is used. */
export type Fetch = (url: string, request: Post) => Promise<Answer>

export interface Post {
  readonly method: 'POST'
  readonly headers: Record<string, string>
  readonly body: string
  readonly redirect: 'manual'
  readonly signal: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly body?: { cancel(): Promise<void> } | null
}

/** Claims what is due and posts it. A row whose post fails was claimed all the same: it is reported and not sent again. */
export async function dispatchDue(options: DispatchOptions): Promise<Dispatch[]> {
  const { index, limit, onDispatch = logFailure } = options
  if (typeof onDispatch !== 'function') {
    throw new EverytickError('OPTION_INVALID', `onDispatch must be a function, not ${shown(onDispatch)}`)
  }
  const concurrency = readConcurrency(options.concurrency ?? 10)
  const post = posting(options) // before the claim: a mistake in the options must not cost a single row
  const now = options.now ?? systemClock.now()
  const rows = limit === undefined ? await index.claimDue(now) : await index.claimDue(now, limit)
  const dispatches: Dispatch[] = []
  const failures: unknown[] = []
  const waiting = rows.values() // shared: each group takes the next row as soon as it is free
  const dispatchNext = async (): Promise<void> => {
    for (const row of waiting) {
      const dispatch = await post(row)
      dispatches.push(dispatch)
      try {
        await onDispatch(dispatch)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, rows.length) }, dispatchNext))
  if (failures.length > 1) throw new AggregateError(failures, `onDispatch failed for ${failures.length} rows`)
  if (failures.length === 1) throw failures[0]
  return dispatches
}

function logFailure({ row, status, error }: Dispatch): void {
  if (status >= 200 && status < 300) return
  const reason =
    status === 0 ? `no answer, ${error instanceof Error ? error.message : String(error)}` : `status ${status}`
  console.warn(
    printable(`schedule_index: "${row.key}" of user "${row.userId}" was claimed and not delivered: ${reason}`),
  )
}

function posting(options: DispatchOptions): (row: ScheduleIndexRow) => Promise<Dispatch> {
  const url = readUrl(options.url)
  const headers = readHeaders(options.headers ?? {})
  const timeoutMs = parseDuration(options.timeout ?? '30s')
  const send: Fetch = options.fetch ?? fetch
  return async (row) => {
    try {
      const body = JSON.stringify(row)
      const signal = AbortSignal.timeout(timeoutMs)
      // A redirect is not followed: it would turn the post into a get, and its answer into somebody else's.
      const answer = await send(url, { method: 'POST', headers, body, redirect: 'manual', signal })
      answer.body?.cancel().catch(() => {}) // unread, it would keep its connection
      return { row, status: answer.status }
    } catch (error) {
      return { row, status: 0, error }
    }
  }
}

function readUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  // Fetch refuses an address with a password in it, each time.
  const isUsable = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (isUsable) return url.href
  throw new EverytickError('OPTION_INVALID', 'url is not a valid http or https URL', {
    hint: 'use http or https, and put credentials into headers',
  })
}

function readHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  try {
    const headers = new Headers(given)
    if (!headers.has('content-type')) headers.set('content-type', 'application/json')
    return Object.fromEntries(headers)
  } catch (cause) {
    throw new EverytickError('OPTION_INVALID', 'headers contains a name or a value that HTTP does not allow', { cause })
  }
}

function readConcurrency(value: number): number {
  if (Number.isInteger(value) && value > 0) return value
  throw new EverytickError('OPTION_INVALID', `concurrency must be a whole number of at least 1, not ${shown(value)}`)
}
