/** `everytick alerts`: lists alerts; acknowledges, mutes and resolves them. */
import { answer, listOf } from '../answer.ts'
import { type ChangeOptions, change } from '../change.ts'
import { findId } from '../find-id.ts'
import { type Io, withBackend } from '../io.ts'
import { ALERTS } from '../kinds.ts'
import { type ListOptions, limitOf } from '../listing.ts'
import { rowsText } from '../print.ts'
import { shortIds } from '../short-id.ts'

export type AlertOptions = ChangeOptions

export interface AlertsListOptions extends AlertOptions, ListOptions {
  readonly state?: 'open' | 'acknowledged' | 'resolved' | 'any'
  readonly workspace?: string
}

export interface MuteOptions extends AlertOptions {
  readonly for?: string
  readonly until?: string
}

interface Alert {
  readonly id: string
  readonly severity: string
  readonly workspace: string | null
  readonly title: string
  readonly state: string
  readonly openedAt: string
  readonly mutedUntil: string | null
}

/** By default lists unresolved alerts, open and acknowledged, newest first. */
export function listAlerts(options: AlertsListOptions, io: Io): Promise<void> {
  const { state, workspace } = options
  const states = state === 'any' ? [undefined] : state === undefined ? ['open', 'acknowledged'] : [state]
  return withBackend(options, async (backend) => {
    const found: Alert[] = []
    for (const each of states)
      found.push(...(await listOf<Alert>(backend, '/alerts', { ...options, io, query: { state: each, workspace } })))
    const newest = found.toSorted((a, b) => (a.id < b.id ? 1 : -1))
    const alerts = newest.slice(0, limitOf(options))
    await answer(alerts, { ...options, io }, (shown, view) => {
      const idText = view.terminal ? shortIds(shown.map(({ id }) => id)) : String
      const rows = shown.map((alert) => [
        ...[idText(alert.id), alert.severity, alert.mutedUntil === null ? alert.state : `${alert.state}, muted`],
        ...[alert.openedAt, alert.workspace ?? '-', alert.title],
      ])
      return rowsText(['ID', 'SEVERITY', 'STATE', 'SINCE', 'WORKSPACE', 'TITLE'], rows, view)
    })
  })
}

interface Move {
  readonly verb: 'acknowledge' | 'mute' | 'unmute' | 'resolve'
  readonly done: string
  readonly body?: unknown
}

/** Reads the alert first, so that a dry run fails if it does not exist, and the output shows its title. */
function moved(id: string, { verb, done, body }: Move, { io, ...options }: AlertOptions & { io: Io }): Promise<void> {
  return withBackend(options, async (backend) => {
    const path = `/alerts/${await findId(backend, ALERTS, id)}`
    const { title } = await backend.ask<Alert>('GET', path)
    const wanted = { method: 'POST', path: `${path}/${verb}`, words: `${verb}: ${title}` } as const
    const said = (): string => `${done}: ${title}`
    await change(backend, { ...wanted, said, ...(body === undefined ? {} : { body }) }, { ...options, io })
  })
}

export const ackAlert = (id: string, options: AlertOptions, io: Io): Promise<void> =>
  moved(id, { verb: 'acknowledge', done: 'acknowledged' }, { ...options, io })

export function muteAlert(id: string, options: MuteOptions, io: Io): Promise<void> {
  const { for: length, until } = options
  // Sends both if both are given: the server rejects that.
  const body = {
    ...(until === undefined ? { for: length ?? '1h' } : length === undefined ? {} : { for: length }),
    ...(until === undefined ? {} : { until }),
  }
  return moved(id, { verb: 'mute', done: 'muted', body }, { ...options, io })
}

export const unmuteAlert = (id: string, options: AlertOptions, io: Io): Promise<void> =>
  moved(id, { verb: 'unmute', done: 'no longer muted' }, { ...options, io })

export const resolveAlert = (id: string, options: AlertOptions, io: Io): Promise<void> =>
  moved(id, { verb: 'resolve', done: 'resolved' }, { ...options, io })
