/** Decides which notifications go into one digest, and when to retry failed ones. Pure; `notifier.ts` sends. */
import { createHash } from 'node:crypto'
import { grouped } from './grouped.ts'
import type { StoredNotification } from './notifications.ts'
import { roundRobin } from './round-robin.ts'

export interface Digest {
  /** Null for a single message, which is sent under its own id. */
  readonly digest: string | null
  readonly of: readonly StoredNotification[]
}

/** More notifications than this for one channel ... */
const MAX_SINGLE = 10
/** ... created within this time become one digest. */
const TOGETHER_MS = 5000
const MAX_TOGETHER = 100

/**
 * The notifications of one channel, round-robin over workspaces and oldest first, so that a flood from one workspace neither delays
 * others nor hides them beyond the line limit of a digest. Retries keep the same digest, so that its receiver can deduplicate.
 */
export function groupIntoDigests(waiting: readonly StoredNotification[]): Digest[] {
  const known = grouped(waiting, ({ notification }) => notification.digest)
  const fresh = [...(known.get(null) ?? [])].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
  known.delete(null)
  const digests: Digest[] = [...known].map(([digest, of]) => ({ digest, of }))
  const rest = new Set(roundRobin(fresh, ({ workspace }) => workspace))
  for (const first of rest) {
    const together = togetherWith(first, rest)
    const of = together.length > MAX_SINGLE ? together : [first]
    digests.push({ digest: of === together ? digestId(of) : null, of })
    for (const each of of) rest.delete(each)
  }
  return digests
}

function togetherWith(first: StoredNotification, rest: Iterable<StoredNotification>): StoredNotification[] {
  const together: StoredNotification[] = []
  for (const each of rest) {
    if (Math.abs(each.createdAt - first.createdAt) <= TOGETHER_MS) together.push(each)
    if (together.length === MAX_TOGETHER) break
  }
  return together
}

const digestId = (of: readonly StoredNotification[]): string =>
  `digest.${createHash('sha256')
    .update(of.map(({ id }) => id).join('\n'))
    .digest('hex')
    .slice(0, 32)}`

const FIRST_RETRY_MS = 10_000
const LAST_RETRY_MS = 3_600_000
const GIVE_UP_MS = 86_400_000

/** The retry delay after this many attempts; null after a day. `roll` (0 to 1) spreads retries of notifications that failed together. */
export function retryAfterMs(
  attempts: number,
  { ageMs, roll }: { readonly ageMs: number; readonly roll: number },
): number | null {
  if (ageMs >= GIVE_UP_MS) return null
  const whole = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 20))
  return Math.round(whole * (0.75 + roll / 2))
}
