/** Stores alerts as documents: opens each one once, and updates with optimistic locking. `observe/` decides the state transitions. */

import { createHash } from 'node:crypto'
import type { Json } from '../../json.ts'
import { type Alert, type NewAlert, opened } from '../../observe/alert.ts'
import { DAY_MS } from '../../schedule/calendar.ts'
import type { Document, DocumentStore } from '../../store/contract/documents.ts'

/** `closing`: resolved, but with notifications still to create. */
export type StoredState = Alert['state'] | 'closing'

export interface StoredAlert {
  readonly alert: Alert
  readonly version: number
}

/** How long a resolved alert is kept. */
const RESOLVED_FOR_MS = 90 * DAY_MS
const PAGE = 200
/** Above the possible maximum: alerts are capped per fleet rule and workspace, and per workspace for its own rules. */
const MAX_UNRESOLVED = 200_000
const TRIES = 5

export const alertOf = ({ data, version }: Document): StoredAlert => ({ alert: data as unknown as Alert, version })

const storedState = ({ state, untold }: Alert): StoredState =>
  state === 'resolved' && untold.length > 0 ? 'closing' : state

/** Null if the alert was changed concurrently. */
export async function writeAlert(documents: DocumentStore, alert: Alert, from: number): Promise<StoredAlert | null> {
  const state = storedState(alert)
  const document = { kind: 'alert', id: alert.id, workspace: alert.workspace, state } as const
  const data = { ...alert } as unknown as Json
  const lasts = state === 'resolved' ? { forMs: RESOLVED_FOR_MS } : {}
  const written = await documents.put({ ...document, data, from, ...lasts })
  return written && alertOf(written)
}

/** Alerts that are unresolved, or still have notifications to create. */
export async function unresolved(documents: DocumentStore): Promise<StoredAlert[]> {
  const found: StoredAlert[] = []
  for (const state of ['open', 'acknowledged', 'closing'] satisfies StoredState[]) {
    for (let after: string | undefined; found.length < MAX_UNRESOLVED; ) {
      const page = await documents.list('alert', { state, limit: PAGE, ...(after === undefined ? {} : { after }) })
      found.push(...page.map(alertOf))
      after = page.at(-1)?.id
      if (page.length < PAGE) break
    }
  }
  return found
}

/** Applies a state transition to the current alert; null if it does not apply, undefined if the alert does not exist. */
export async function moveAlert(
  documents: DocumentStore,
  id: string,
  move: (alert: Alert) => Alert | null,
): Promise<{ readonly before: Alert; readonly after: StoredAlert } | null | undefined> {
  for (let i = 0; i < TRIES; i++) {
    const document = await documents.get('alert', id)
    if (!document) return undefined
    const { alert: before, version } = alertOf(document)
    const moved = move(before)
    if (!moved) return null
    const after = await writeAlert(documents, moved, version)
    if (after) return { before, after }
  }
  throw new Error(`alert ${id} could not be updated: too many concurrent changes`)
}

/**
 * Opens the only unresolved alert of a rule and a subject; null if there is one already. A mark per rule and subject stores the
 * id of the newest alert, and is written first. So two processes that open an alert at once agree on its id, and after a crash in
 * between the next process creates the alert with that id.
 */
export async function openAlert(
  documents: DocumentStore,
  alert: NewAlert,
  newId: () => string,
): Promise<StoredAlert | null> {
  const mark = { kind: 'position', id: markOf(alert), workspace: '', state: '' } as const
  for (let i = 0; i < TRIES; i++) {
    const seen = await documents.get('position', mark.id)
    const named = (seen?.data as { readonly alertId?: string } | undefined)?.alertId
    const known = named === undefined ? null : await documents.get('alert', named)
    if (known && isSettled(alertOf(known).alert, alert)) return null
    if (named !== undefined && !known) return writeAlert(documents, opened(alert, named), 0)
    const alertId = newId()
    const from = seen?.version ?? 0
    // The mark expires before the alert that it names.
    if (await documents.put({ ...mark, data: { alertId }, from, forMs: RESOLVED_FOR_MS }))
      return writeAlert(documents, opened(alert, alertId), 0)
  }
  return null
}

/** Whether the newest alert of a subject is unresolved, or was resolved after the event. */
const isSettled = ({ resolved }: Alert, { happenedAt }: NewAlert): boolean =>
  resolved === null || (happenedAt !== undefined && happenedAt <= resolved.at)

const markOf = ({ ruleId, subject }: NewAlert): string =>
  `alert ${createHash('sha256').update(`${ruleId}\n${subject}`).digest('hex')}`
