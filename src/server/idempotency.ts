/** Lets a request be repeated without being done twice: the answer of the first is kept under its Idempotency-Key for a day. */
import { createHash } from 'node:crypto'
import type { Json } from '../json.ts'
import type { DocumentStore, PutDocument } from '../store/contract/documents.ts'
import { Refusal } from './problem.ts'

export interface Kept {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

export interface Asking {
  /** The caller, so that nobody meets another's keys. */
  readonly who: string
  readonly key: string
  /** Method, path and body. */
  readonly said: string
}

export type Begun =
  | { readonly kept: Kept }
  | {
      readonly kept: null
      /** Keeps the answer. */
      finish(answer: Kept): Promise<void>
      /** Nothing was done: the next may try. */
      abandon(): Promise<void>
    }

const KEPT_MS = 24 * 3_600_000
/** Whoever began and has not ended by then has died. */
const PATIENCE_MS = 60_000
const MAX_KEY = 200

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

export const idempotencyId = (who: string, key: string): string => hash(`${who}\n${key}`)

export async function begin(documents: DocumentStore, asking: Asking, now: number): Promise<Begun> {
  const { who, key, said } = asking
  if (key.length > MAX_KEY) throw new Refusal('REQUEST_INVALID', `Idempotency-Key is longer than ${MAX_KEY} characters`)
  const id = idempotencyId(who, key)
  const fingerprint = hash(said)
  const put = (from: number, answer: Kept | null): PutDocument => ({
    ...{ kind: 'request', id, workspace: '', state: answer ? 'done' : 'begun', from, forMs: KEPT_MS },
    data: { fingerprint, answer: answer as unknown as Json },
  })
  const mine = (version: number): Begun => ({
    kept: null,
    finish: async (answer) => void (await documents.put(put(version, answer))),
    abandon: async () => void (await documents.remove('request', id, version)),
  })
  const made = await documents.put(put(0, null))
  if (made) return mine(made.version)
  const found = await documents.get('request', id)
  // It was abandoned between the two looks.
  if (!found) return begin(documents, asking, now)
  const { fingerprint: first, answer } = found.data as unknown as { fingerprint: string; answer: Kept | null }
  if (first !== fingerprint)
    throw new Refusal('IDEMPOTENCY_CONFLICT', 'this Idempotency-Key was used for another request', {
      hint: 'take a new key for every new request',
    })
  if (answer) return { kept: answer }
  const taken = now - found.updatedAt > PATIENCE_MS ? await documents.put(put(found.version, null)) : null
  if (taken) return mine(taken.version)
  throw new Refusal('IDEMPOTENCY_IN_FLIGHT', 'the first request with this Idempotency-Key is under way', {
    headers: { 'retry-after': '1' },
  })
}
