/** What of schedules and runs is shown to whom: payloads, results and what targets kept only to those who may operate, and never what their job calls secret. */
import type { Json } from '../json.ts'
import type { RunError } from '../run/run.ts'
import type { RevisionView } from '../scheduler/revisions.ts'
import type { RunView } from '../scheduler/run-view.ts'
import type { AttemptView } from '../scheduler/runs.ts'
import type { ScheduleView } from '../scheduler/schedule-view.ts'
import type { Parts } from './parts.ts'
import { mayDo, type Principal } from './principal.ts'
import { REDACTED, redacted } from './redact.ts'

type Shown = Readonly<Record<string, unknown>>

export interface Shows {
  schedule(view: ScheduleView, principal: Principal): Shown
  run(view: RunView, principal: Principal): Shown
  /** Of the journal, or an attempt. */
  entry(view: AttemptView, principal: Principal): Shown
  revision(view: RevisionView, principal: Principal): Shown
  /** For the audit log, which outlives everything. */
  recorded(view: ScheduleView | null): Shown | null
}

export function shows({ jobs }: Pick<Parts, 'jobs'>): Shows {
  /** Of a job that no process has told of yet, everything may be secret. */
  const payload = (value: Json, job: string, principal: Principal): { payload?: Json } => {
    const paths = mayDo(principal.scope, 'operate') ? jobs.redactOf(job) : null
    return paths === null ? {} : { payload: redacted(value, paths) }
  }
  const recorded = (value: Json, job: string): Json => {
    const paths = jobs.redactOf(job)
    return paths === null ? value && REDACTED : redacted(value, paths)
  }

  return {
    schedule({ payload: given, ...view }, principal) {
      return { ...view, ...payload(given, view.job, principal) }
    },
    run({ payload: given, result, error, ...view }, principal) {
      const open = mayDo(principal.scope, 'operate')
      const told = { error: open ? error : withoutDetail(error) }
      return { kind: 'run', ...view, ...told, ...payload(given, view.job, principal), ...(open ? { result } : {}) }
    },
    entry({ data, ...view }, principal) {
      return { ...view, data: mayDo(principal.scope, 'operate') ? data : veiled(data) }
    },
    revision({ before, after, changes, ...view }, principal) {
      const veiled = (definition: Json): Json => {
        if (typeof definition !== 'object' || definition === null || Array.isArray(definition)) return definition
        const { payload: given, ...rest } = definition as { payload?: Json; job?: string }
        return { ...rest, ...payload(given ?? null, rest.job ?? '', principal) } as Json
      }
      const told = changes.map((each) =>
        /^payload(?:\.|$)/.test(each.field) ? { ...each, before: REDACTED, after: REDACTED } : each,
      )
      return { ...view, before: veiled(before), after: veiled(after), changes: told }
    },
    recorded(view) {
      if (view === null) return null
      // When it last fired is no part of what was changed.
      const { lastFiredAt: _, ...kept } = view
      return { ...kept, payload: recorded(view.payload, view.job) }
    },
  }
}

/** What a target kept of an answer is as good as a result. */
const withoutDetail = (error: RunError | null): RunError | null => {
  if (error === null) return null
  const { detail: _, ...rest } = error
  return rest
}

/** An entry tells how an attempt failed, or the whole verdict that came too late. */
function veiled(data: Json): Json {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return data
  const { error, verdict, ...rest } = data as { error?: RunError | null; verdict?: Json }
  const shown = error === undefined ? rest : { ...rest, error: withoutDetail(error) }
  if (verdict === undefined) return shown as unknown as Json
  const { result: _, ...kept } = verdict as { result?: Json }
  return { ...shown, verdict: veiled(kept) } as unknown as Json
}
