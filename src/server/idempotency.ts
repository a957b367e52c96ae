/** Makes repeated requests idempotent: stores the response under the Idempotency-Key for a day, and leases the key while a request is in flight. */
import { createHash } from 'node:crypto'
import type { Json } from '../json.ts'
import type { Core } from '../scheduler/core.ts'
import type { Document, DocumentStore } from '../store/contract/documents.ts'
import { judge, RENEW_MS, type RequestRecord, type RequestState, type StoredAnswer } from './idempotency-verdict.ts'
import { Refusal } from './problem.ts'

export interface KeyedRequest {
  /** The caller; idempotency keys are separate per caller. */
  readonly who: string
  readonly key: string
  /** Method, path and body. */
  readonly text: string
  readonly requestId: string
  /** How to check the outcome, if repeating might apply the change twice; null if repeating is safe. */
  readonly look: string | null
}

/** What a handler knows about the first request, which got no response. */
export interface Interrupted {
  /** By the database clock. */
  readonly begunAt: number
  readonly requestId: string
}

export interface Begun {
  /** The id of the resource to create: the same for every server that takes over. */
  readonly newId: string
  /** Null if this is the first request. */
  readonly interrupted: Interrupted | null
  /** Stores the response. */
  finish(answer: StoredAnswer): Promise<void>
  /** Nothing was changed: the next request may start. */
  abandon(): Promise<void>
  /** An error left the outcome unknown: the next request takes over at once. */
  interrupt(): Promise<void>
}

interface RequestData {
  readonly fingerprint: string
  readonly answer: StoredAnswer | null
  readonly newId: string
  readonly requestId: string
}

const RETENTION_MS = 24 * 3_600_000
const MAX_KEY = 200

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

export const idempotencyId = (who: string, key: string): string => hash(`${who}\n${key}`)

/** Returns within one lease: the response of the first request, or the right to execute it. */
export async function begin(core: Core, request: KeyedRequest): Promise<StoredAnswer | Begun> {
  const { who, key, text, requestId, look } = request
  if (key.length > MAX_KEY) throw new Refusal('REQUEST_INVALID', `Idempotency-Key is longer than ${MAX_KEY} characters`)
  const store = await core.store()
  const place: Place = { core, documents: store.documents, id: idempotencyId(who, key) }
  const fingerprint = hash(text)
  const cameAt = core.clock.elapsed()
  // Most keys are new, so try to insert first, and read the record only if it exists.
  let found: Document | null = null
  for (let seen: number | null = null; ; ) {
    const waitedMs = core.clock.elapsed() - cameAt
    const now = found ? await store.now() : 0
    const verdict = judge(found && recordOf(found), { fingerprint, now, seen, waitedMs })
    switch (verdict.kind) {
      case 'replay':
        return verdict.answer
      case 'conflict':
        throw conflict()
      case 'in_flight':
        throw inFlight()
      case 'wait':
        await new Promise<void>((resolve) => void core.timers.set(verdict.ms, resolve))
        break
      case 'begin': {
        const data = { fingerprint, answer: null, newId: core.newId(), requestId }
        const made = await write(place, { data, state: 'begun', from: 0 })
        if (made) return leased(place, made, null)
        break
      }
      case 'take_over': {
        if (look !== null) throw outcomeUnknown(look)
        const { version: from, createdAt: begunAt } = found!
        const data = dataOf(found!)
        const taken = await write(place, { data, state: 'begun', from })
        if (taken) return leased(place, taken, { begunAt, requestId: data.requestId })
      }
    }
    found = await store.documents.get('request', place.id)
    seen ??= found?.version ?? null
  }
}

interface Place {
  readonly core: Core
  readonly documents: DocumentStore
  readonly id: string
}

interface Write {
  readonly data: RequestData
  readonly state: RequestState
  readonly from: number
}

const write = ({ documents, id }: Place, { data, ...rest }: Write): Promise<Document | null> =>
  documents.put({ kind: 'request', id, workspace: '', ...rest, data: data as unknown as Json, forMs: RETENTION_MS })

const dataOf = ({ data }: Document): RequestData => data as unknown as RequestData

function recordOf(found: Document): RequestRecord {
  const { fingerprint, answer } = dataOf(found)
  return { state: found.state as RequestState, version: found.version, updatedAt: found.updatedAt, fingerprint, answer }
}

/** Renews the lease while the handler runs. After a takeover the version differs, and this server writes nothing more. */
function leased(place: Place, document: Document, interrupted: Interrupted | null): Begun {
  const data = dataOf(document)
  let { version } = document
  let renewing: Promise<void> = Promise.resolve()
  const arm = (): (() => void) => place.core.timers.set(RENEW_MS, renew)
  const renew = (): void => {
    renewing = write(place, { data, state: 'begun', from: version }).then(
      (renewed) => {
        if (!renewed) return
        version = renewed.version
        cancel = arm()
      },
      // The database is down; a later renewal may succeed while the lease lasts.
      () => {
        cancel = arm()
      },
    )
  }
  let cancel = arm()
  const stop = async (): Promise<void> => {
    cancel()
    await renewing
    cancel()
  }
  return {
    newId: data.newId,
    interrupted,
    async finish(answer) {
      await stop()
      await write(place, { data: { ...data, answer }, state: 'done', from: version })
    },
    async abandon() {
      await stop()
      await place.documents.remove('request', place.id, version)
    },
    async interrupt() {
      await stop()
      await write(place, { data, state: 'interrupted', from: version })
    },
  }
}

const conflict = (): Refusal =>
  new Refusal('IDEMPOTENCY_CONFLICT', 'this Idempotency-Key was used for another request', {
    hint: 'use a new key for every new request',
  })

const inFlight = (): Refusal =>
  new Refusal('IDEMPOTENCY_IN_FLIGHT', 'the first request with this Idempotency-Key is still in flight', {
    hint: 'retry in a second',
    headers: { 'retry-after': '1' },
  })

export const outcomeUnknown = (look: string): Refusal =>
  new Refusal(
    'IDEMPOTENCY_OUTCOME_UNKNOWN',
    'the server crashed during the first request with this Idempotency-Key; the request may or may not have taken effect',
    { hint: `${look}; to repeat the request, send it with a new key` },
  )
