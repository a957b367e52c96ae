/** What the bridge uses of BullMQ, in its own words, so that any version that has it fits; the package is loaded when the first run needs it. */
import { loadPeer } from '../peer.ts'

/** A job of BullMQ. */
export interface BullJob {
  readonly data: unknown
  readonly opts: { readonly attempts?: number | undefined }
  readonly returnvalue: unknown
  readonly failedReason?: string | undefined
  readonly stacktrace: readonly string[] | null
  readonly attemptsMade: number
  readonly finishedOn?: number | undefined
  updateData(data: unknown): Promise<void>
  retry(state: 'failed', options: { resetAttemptsMade: boolean }): Promise<void>
}

/** A queue of BullMQ. One that the user opened is never closed by the bridge. */
export interface BullQueue {
  readonly name: string
  readonly opts: { readonly connection?: unknown; readonly prefix?: string | undefined }
  readonly defaultJobOptions: object
  add(name: string, data: unknown, options: object): Promise<unknown>
  getJob(id: string): Promise<BullJob | undefined>
  getJobState(id: string): Promise<string>
  remove(id: string): Promise<number>
}

/** The events of a queue of BullMQ. */
export interface BullEvents {
  on(event: 'completed' | 'failed' | 'removed', listener: (told: { readonly jobId: string }) => void): unknown
  on(event: 'error', listener: () => void): unknown
  close(): Promise<void>
  /** What holds the connection since version 6, and what did before. */
  getBackend?(): Closable
  readonly connection?: Closable
}

interface Closable {
  close(force: boolean): Promise<void>
}

export interface BullPlace {
  readonly connection: unknown
  readonly prefix?: string
}

interface BullPackage {
  readonly Queue: new (
    name: string,
    place: BullPlace,
  ) => BullQueue & Pick<BullEvents, 'close'> & { on(event: 'error', listener: () => void): unknown }
  readonly QueueEvents: new (name: string, place: BullPlace) => BullEvents
}

export const loadBullmq = async (): Promise<BullPackage> =>
  (await loadPeer({ name: 'bullmq', for: 'bullmq()', load: () => import('bullmq') })) as unknown as BullPackage
