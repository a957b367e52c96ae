/** The stored document of a bulk operation: work, progress, errors. */
import type { Json } from '../../json.ts'
import type { Document, PutDocument } from '../../store/contract/documents.ts'
import type { Bulk } from '../contract/operations.ts'

export interface Failure {
  readonly target: string
  readonly message: string
}

export interface BulkState {
  readonly work: Bulk
  readonly by: string
  /** The last processed item; null before the first step. */
  readonly after: Json
  readonly done: number
  readonly failed: number
  /** The first few errors. */
  readonly errors: readonly Failure[]
  readonly finishedAt: number | null
}

/** The outcome of a step. */
export interface Progress {
  readonly done: number
  readonly failed: readonly Failure[]
  readonly after: Json
}

const MAX_ERRORS = 20
/** How long a finished operation is kept. */
const RETENTION_MS = 90 * 86_400_000

export const stateOf = (document: Document): BulkState => document.data as unknown as BulkState

export const begun = (work: Bulk, by: string): BulkState => ({
  ...{ work, by, after: null, done: 0, failed: 0, errors: [], finishedAt: null },
})

export const advanced = (state: BulkState, { done, failed, after }: Progress): BulkState => ({
  ...state,
  after,
  done: state.done + done,
  failed: state.failed + failed.length,
  errors: [...state.errors, ...failed].slice(0, MAX_ERRORS),
})

/** The next version of the document. */
export const nextOf = (
  { id, workspace, version }: Pick<Document, 'id' | 'workspace' | 'version'>,
  state: 'running' | 'done' | 'cancelled',
  data: BulkState,
): PutDocument => ({
  ...{ kind: 'operation', id, workspace, state, from: version, data: data as unknown as Json },
  ...(state === 'running' ? {} : { forMs: RETENTION_MS }),
})

export const bulkBody = (document: Document): Readonly<Record<string, unknown>> => {
  const { work, by, done, failed, errors, finishedAt } = stateOf(document)
  const { id, workspace, state, createdAt } = document
  return {
    ...{ id, workspace, state, work, by, done, failed, errors },
    createdAt: new Date(createdAt),
    finishedAt: finishedAt === null ? null : new Date(finishedAt),
  }
}
