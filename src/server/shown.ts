/** The only module that decides which payloads, results, errors and differences a caller may see; `refuse-unreleased.ts` blocks every response that bypasses it. */
import type { Json } from '../json.ts'
import type { Alert } from '../observe/alert.ts'
import type { RunError } from '../run/run.ts'
import type { Preview } from '../scheduler/preview.ts'
import type { RevisionView } from '../scheduler/revisions.ts'
import type { RunView } from '../scheduler/run-view.ts'
import type { AttemptView } from '../scheduler/runs.ts'
import type { ScheduleInput } from '../scheduler/schedule-input.ts'
import type { ScheduleView } from '../scheduler/schedule-view.ts'
import type { AuditEntry } from '../store/contract/audit-log.ts'
import type { ListedNonRun, RunContent } from '../store/contract/history.ts'
import type { Parts } from './parts.ts'
import { mayDo, type Principal } from './principal.ts'
import { REDACTED, redacted } from './redact.ts'
import { release } from './refuse-unreleased.ts'

export type Shown = Readonly<Record<string, unknown>>

/** The large fields to include in a response; absent: all of them. */
export type Content = RunContent
export const ALL_CONTENT: readonly Content[] = ['payload', 'result']

interface Viewer {
  readonly principal: Principal
  readonly include?: readonly Content[]
}

export interface Shows {
  /** `also`: fields of the response that are not part of the schedule. */
  schedule(view: ScheduleView, viewer: Viewer, also?: object): Shown
  run(view: RunView, viewer: Viewer): Shown
  /** A journal entry or an attempt. */
  entry(view: AttemptView, viewer: Viewer): Shown
  revision(view: RevisionView, viewer: Viewer): Shown
  /** The preview of a schedule; `job` is the job of its new definition. */
  preview(found: Preview, job: string, viewer: Viewer): Shown
  /** A change for the audit log, which is never deleted. */
  recorded(view: ScheduleView | null): Shown | null
  /** An audit log entry, with the current redactions of its job. */
  audited(entry: AuditEntry, viewer: Viewer): Shown
  /** A stored response for a repeated request, with the current redactions of its job. */
  repeated(body: Json): Json
}

export function shows({ jobs }: Pick<Parts, 'jobs'>): Shows {
  /** Redacts a payload. If no process has published the job, the whole payload is redacted. */
  const veiled = (value: Json, job: string): Json => {
    const paths = jobs.redactOf(job)
    return paths === null ? value && REDACTED : redacted(value, paths)
  }
  const payload = (value: Json, job: string, { principal, include = ALL_CONTENT }: Viewer): { payload?: Json } => {
    const isShown = include.includes('payload') && mayDo(principal.scope, 'operate') && jobs.redactOf(job) !== null
    return isShown ? { payload: veiled(value, job) } : {}
  }
  /** A full or partial definition as JSON; `job` applies where it names none. */
  const definition = (value: Json, viewer: Viewer, job = ''): Json => {
    if (!isObject(value) || !('payload' in value)) return value
    const { payload: given = null, ...rest } = value
    return { ...rest, ...payload(given, jobIn(value) ?? job, viewer) } as Json
  }

  return {
    schedule({ payload: given, ...view }, viewer, also) {
      return release({ ...view, ...payload(given, view.job, viewer), ...also })
    },
    run({ payload: given, result, error, ...view }, viewer) {
      const { principal, include = ALL_CONTENT } = viewer
      const open = mayDo(principal.scope, 'operate')
      return release({
        ...{ kind: 'run', ...view, error: open ? error : withoutDetail(error) },
        ...payload(given, view.job, viewer),
        ...(open && include.includes('result') ? { result } : {}),
      })
    },
    entry({ data, ...view }, { principal, include = ALL_CONTENT }) {
      const open = mayDo(principal.scope, 'operate')
      return release({ ...view, data: open && include.includes('result') ? data : withoutResult(data, open) })
    },
    revision({ before, after, changes, ...view }, viewer) {
      // Field names of a payload can reveal as much as its values.
      const others = changes.filter(({ field }) => !/^payload(?:\.|$)/.test(field))
      const payloadChange = { field: 'payload', before: REDACTED, after: REDACTED }
      return release({
        ...view,
        before: definition(before, viewer),
        after: definition(after, viewer),
        changes: others.length === changes.length ? others : [...others, payloadChange],
      })
    },
    preview({ workspace, key, action, nextFireAt, before, after, paused }, job, viewer) {
      const words = (some: Partial<ScheduleInput> | undefined, of: string): Json =>
        some === undefined ? null : definition(some as unknown as Json, viewer, of)
      return release({
        ...{ workspace, key, action, nextFireAt },
        before: words(before, job),
        after: words(after, job),
        paused: paused ?? null,
      })
    },
    recorded(view) {
      if (view === null) return null
      // The last fire time is not part of the change.
      const { lastFiredAt: _, ...kept } = view
      return release({ ...kept, payload: veiled(view.payload, view.job) })
    },
    audited({ before, after, ...entry }, { include = ALL_CONTENT }) {
      const shown = (value: Json): Json => {
        if (!isObject(value) || !('payload' in value)) return value
        const { payload: given = null, ...rest } = value
        return include.includes('payload') ? { ...rest, payload: veiled(given, jobIn(value) ?? '') } : rest
      }
      return release({ ...entry, at: new Date(entry.at), before: shown(before), after: shown(after) })
    },
    repeated(body) {
      if (!isObject(body)) return body
      if (!('payload' in body)) return release({ ...body })
      const { payload: given = null, ...rest } = body
      const job = jobIn(body) ?? ''
      return release(jobs.redactOf(job) === null ? rest : { ...rest, payload: veiled(given, job) })
    },
  }
}

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const jobIn = ({ job }: { readonly [key: string]: Json }): string | undefined =>
  typeof job === 'string' ? job : undefined

/** The details that a target recorded are treated like a result. */
const withoutDetail = (error: RunError | null): RunError | null => {
  if (error === null) return null
  const { detail: _, ...rest } = error
  return rest
}

/** An entry contains the error of an attempt, or a late verdict that was rejected. */
function withoutResult(data: Json, withDetail: boolean): Json {
  if (!isObject(data)) return data
  const { error, verdict, ...rest } = data as { error?: RunError | null; verdict?: Json }
  const shown = error === undefined ? rest : { ...rest, error: withDetail ? error : withoutDetail(error) }
  if (verdict === undefined) return shown as unknown as Json
  const { result: _, ...kept } = verdict as { result?: Json }
  return { ...shown, verdict: withoutResult(kept, withDetail) } as unknown as Json
}

/** Non-runs have neither payload nor result; readers see the reason. */
export const shownNonRun = (nonRun: ListedNonRun): Shown => {
  const { workspace, job, queue, state, scheduleId, key, reason, detail, count, fromAt, toAt, recordedAt } = nonRun
  return {
    ...{ kind: 'non_run', workspace, job, queue, state, schedule: { id: scheduleId, key }, reason, detail, count },
    ...{ from: new Date(fromAt), to: new Date(toAt), recordedAt: new Date(recordedAt) },
  }
}

/** For content that contains only error texts: readers may see names and messages of errors. */
export const shownWords = <Value extends object>(value: Value): Value => release(value)

const dateOf = (at: number | null): Date | null => (at === null ? null : new Date(at))
const actOf = (act: Alert['resolved']) => act && { by: act.by, at: new Date(act.at) }

/** The values of a failure alert include the name and message of the last error. */
export const shownAlert = (alert: Alert): Shown => {
  const { id, ruleId: rule, kind, severity, workspace, subject, title, values, state } = alert
  return release({
    ...{ id, rule, kind, severity, workspace: workspace === '' ? null : workspace, subject, title, values, state },
    openedAt: new Date(alert.openedAt),
    seenAt: new Date(alert.seenAt),
    clearedAt: dateOf(alert.clearedAt),
    acknowledged: actOf(alert.acknowledged),
    resolved: actOf(alert.resolved),
    mutedUntil: dateOf(alert.mutedUntil),
  })
}

/** For log lines, which require scope `operate`, and events, which contain only error texts. */
export const shownStream = (response: Response): Response => release(response)
