/** Sums the payload bytes that a workspace sends on one UTC day: each process periodically adds its own sum to a shared document. */
import type { Json } from '../json.ts'
import type { DocumentStore } from '../store/contract/documents.ts'
import type { Core } from './core.ts'
import { createTally, type Tally } from './tally.ts'

const DAY_MS = 86_400_000
/** A process that crashes loses the bytes counted within this interval. */
const REPORT_MS = 1000

export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
export const untilNextDay = (at: number): number => DAY_MS - (((at % DAY_MS) + DAY_MS) % DAY_MS)

/** The size of the stored payload; 0 without one. */
export const bytesOf = (payload: Json): number => (payload === null ? 0 : Buffer.byteLength(JSON.stringify(payload)))

interface Place {
  readonly workspace: string
  readonly day: string
}

export interface ByteSum extends Tally {
  /** Adds the unreported bytes to the document. */
  report(): Promise<void>
}

/** Reports in the background, because the caller's transaction may hold the only write lock of the database. */
export function createByteSum(
  { store, clock, timers }: Pick<Core, 'store' | 'clock' | 'timers'>,
  place: Place,
): ByteSum {
  let unreported = 0
  let forget: (() => void) | null = null
  let reporting: Promise<void> | null = null
  const documents = async (): Promise<DocumentStore> => (await store()).documents

  const tally = createTally(
    async () => {
      const own = unreported
      return own + (await bytesIn(await documents(), place))
    },
    () => clock.elapsed(),
  )

  const add = async (): Promise<void> => {
    const bytes = unreported
    if (bytes === 0) return
    await addBytes(await documents(), place, bytes)
    unreported -= bytes
  }
  const report = (): Promise<void> => {
    forget?.()
    forget = null
    // While the database is down, the next report tries again.
    reporting ??= add()
      .catch(() => {})
      .finally(() => {
        reporting = null
      })
    return reporting
  }

  return {
    async draw(wish) {
      const answer = await tally.draw(wish)
      if ('used' in answer) return answer
      return {
        end() {
          unreported += wish.wanted
          answer.end()
          forget ??= timers.set(REPORT_MS, () => void report())
        },
      }
    },
    count: tally.count,
    report,
    get isIdle() {
      return tally.isIdle && unreported === 0
    },
  }
}

const idOf = ({ workspace, day }: Place): string => `payload-bytes/${day}/${workspace}`

async function bytesIn(documents: DocumentStore, place: Place): Promise<number> {
  const found = await documents.get('quota', idOf(place))
  return found ? (found.data as { readonly bytes: number }).bytes : 0
}

/** When two processes add at once, one of them reads again and retries. */
async function addBytes(documents: DocumentStore, place: Place, bytes: number): Promise<void> {
  const id = idOf(place)
  for (let written = false; !written; ) {
    const found = await documents.get('quota', id)
    const { bytes: before } = (found?.data ?? { bytes: 0 }) as { readonly bytes: number }
    const data = { bytes: before + bytes }
    const whose = { kind: 'quota', id, workspace: place.workspace, state: '' } as const
    written = (await documents.put({ ...whose, data, from: found?.version ?? 0, forMs: 2 * DAY_MS })) !== null
  }
}
