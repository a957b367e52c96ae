/** Completion tokens: they authorize an external system without an API key to complete one attempt; `engine/completion-key.ts` stores the signing key. */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** An attempt of a run, as a token names it. */
export interface TokenSubject {
  readonly runId: string
  readonly fence: number
  readonly claimId: string
}

const PREFIX = 'evt_run_'
const TOKEN = /^evt_run_([1-9]\d{0,15})\.([0-9a-f-]{36})\.([\w-]{43})$/
const NOTHING = Buffer.alloc(32)

/** Whether it is meant to be one, right or wrong. */
export const isCompletionToken = (text: string): boolean => text.startsWith(PREFIX)

export const completionTokenOf = (key: Uint8Array, subject: TokenSubject): string =>
  `${PREFIX}${subject.fence}.${subject.claimId}.${sealOf(key, subject).toString('base64url')}`

/** The attempt that the token was made for; null when it was not made for this run, or not with this key. */
export function attemptOfToken(key: Uint8Array, runId: string, token: string): Omit<TokenSubject, 'runId'> | null {
  const [, digits, claimId = '', seal] = TOKEN.exec(token) ?? []
  const fence = Number(digits ?? 0)
  const given = seal === undefined ? NOTHING : Buffer.from(seal, 'base64url')
  // Compared in any case, so that one that is no token takes as long as one that is wrong.
  const fits = timingSafeEqual(given, sealOf(key, { runId, fence, claimId }))
  return seal !== undefined && fits ? { fence, claimId } : null
}

const sealOf = (key: Uint8Array, { runId, fence, claimId }: TokenSubject): Buffer =>
  createHmac('sha256', key).update(`${runId.toLowerCase()}.${fence}.${claimId}`).digest()
