/** HTTP handlers of runs: check access, then call the scheduler. */
import { EverytickError } from '../../errors.ts'
import type { Run } from '../../run/run.ts'
import type { RunState } from '../../run/state.ts'
import { jobOf } from '../../schedule-definition.ts'
import { attemptsOf, endsAttempt } from '../../scheduler/attempts.ts'
import { type AttemptName, completeRun, readCompletion } from '../../scheduler/complete.ts'
import { enqueue } from '../../scheduler/enqueue.ts'
import { storablePayload } from '../../scheduler/payload.ts'
import { runView } from '../../scheduler/run-view.ts'
import type { RunFilter } from '../../store/contract/history.ts'
import type { Store } from '../../store/contract/store.ts'
import * as contract from '../contract/runs.ts'
import { DEFAULT_LIMIT, PAGE_BYTES } from '../contract/vocabulary.ts'
import { fromCursor, isEntryPosition, toCursor } from '../cursor.ts'
import { defined } from '../defined.ts'
import type { IdRange } from '../id-range.ts'
import { idempotencyId, outcomeUnknown } from '../idempotency.ts'
import { mapInSlices } from '../in-slices.ts'
import { jobWarnings } from '../job-warning.ts'
import type { Parts } from '../parts.ts'
import { callerOf, home, type Principal, sees, visible } from '../principal.ts'
import { notFound, Refusal } from '../problem.ts'
import { ok, type Reply, type Route, route } from '../route.ts'
import { historyPage, isHistoryCursor } from '../run-lists.ts'
import { logReply } from '../run-logs.ts'
import { type Content, shownNonRun, shows } from '../shown.ts'

interface Asking {
  readonly status?: readonly RunState[] | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly id?: IdRange | undefined
  readonly include?: readonly Content[] | undefined
}

export function runRoutes(parts: Parts): readonly Route[] {
  const { app, core } = parts
  const shown = shows(parts)

  const known = async (principal: Principal, id: string): Promise<Run> => {
    const run = await (await core.store()).history.run(id)
    if (run && sees(principal, run.workspace)) return run
    throw notFound(`run ${id}`)
  }
  const listed = async (principal: Principal, filter: RunFilter, asking: Asking): Promise<Reply> => {
    const { id: range, status, limit = DEFAULT_LIMIT, cursor: text, include = [] } = asking
    const cursor = fromCursor(text, isHistoryCursor)
    const store = await core.store()
    const asked = { filter, range, states: status, limit, cursor, include, now: await store.now() }
    const { items, next } = await historyPage(store.history, asked)
    const data = await mapInSlices(items, (item) =>
      'a' in item ? shown.run(runView(item.a), { principal, include }) : shownNonRun(item.b),
    )
    return ok({ data, page: { next: next && toCursor(next), hasMore: next !== null } })
  }
  /** The run after a change; its log and result do not go to the audit log. */
  const changed = async (principal: Principal, before: Run, also: object = {}): Promise<Reply> => {
    const run = await known(principal, before.id)
    const { id, workspace } = run
    return {
      status: 200,
      body: shown.run(runView(run), { principal }),
      change: { workspace, target: `run ${id}`, before: brief(before), after: { ...brief(run), ...also } },
    }
  }

  const wasRetried = async (runId: string, sinceAt: number): Promise<boolean> => {
    const entries = await (await core.store()).history.journalKinds(runId)
    return entries.some(({ kind, at }) => kind === 'retried' && at >= sinceAt)
  }

  return [
    route(contract.listRuns, async ({ query, principal }) => {
      const { workspace, schedule, job, queue, ...asking } = query
      const filter = { ...visible(principal, workspace), ...defined({ job, queue, scheduleId: schedule }) }
      return listed(principal, filter, asking)
    }),
    route(contract.listExecutions, async ({ params, query, principal }) => {
      const workspace = await workspaceOf(await core.store(), params.id)
      if (workspace === null || !sees(principal, workspace)) throw notFound(`schedule ${params.id}`)
      return listed(principal, { workspace, scheduleId: params.id }, query)
    }),
    route(contract.enqueueRun, async ({ body, principal, request, base, interrupted }) => {
      const { job: name, payload, idempotencyKey, ...options } = body
      const workspace = home(principal, body.workspace)
      const job = jobOf(name, core.settings.jobs, 'enqueue')
      const said = request.headers.get('idempotency-key')
      const ownKey = said === null ? undefined : `http:${idempotencyId(callerOf(principal), said)}`
      const key = idempotencyKey ?? ownKey
      const given = { ...defined({ ...options, idempotencyKey: key }), workspace }
      // A job without a schema takes no payload, so a payload for it is refused.
      if (!job.schema) await storablePayload(job.schema, payload, `job "${name}"`)
      const { id, created } = await enqueue(core, job, job.schema ? [payload, given] : [given])
      const warnings = await jobWarnings(parts, name)
      return {
        status: created ? 201 : 200,
        body: { id, created, ...(warnings.length > 0 ? { warnings } : {}) },
        headers: { location: `${base}/runs/${id}` },
        // Only a crashed server can have created a run with this generated key.
        change:
          created || (interrupted && key === ownKey)
            ? { workspace, target: `run ${id}`, after: { job: name } }
            : 'none',
      }
    }),
    route(contract.getRun, async ({ params, principal }) =>
      ok(shown.run(runView(await known(principal, params.id)), { principal })),
    ),
    route(contract.listAttempts, async ({ params, query, principal }) => {
      // Read the run first, so that the journal includes everything up to its state.
      const run = await known(principal, params.id)
      const { limit = DEFAULT_LIMIT, include = [] } = query
      const from = fromCursor(query.cursor, isAttemptPosition)
      const { history } = await core.store()
      const page = { limit, maxBytes: PAGE_BYTES, ...(from ? { after: from.entry } : {}) }
      const { entries, next } = await history.journalPage(run.id, page)
      // The last page shows the latest attempt, unless a journal entry already shows its end.
      const isTold = from?.told === run.fence || endsAttempt(run, entries)
      const attempts = next !== null || isTold ? entries : attemptsOf(run, entries)
      const data = await mapInSlices(attempts, (entry) =>
        shown.entry({ ...entry, at: new Date(entry.at) }, { principal, include }),
      )
      const cursor = next === null ? null : toCursor({ entry: next, told: isTold ? run.fence : 0 })
      return ok({ data, page: { next: cursor, hasMore: next !== null } })
    }),
    route(contract.readLogs, async ({ params, query, principal, request }) => {
      const run = await known(principal, params.id)
      const follow = /text\/event-stream/.test(request.headers.get('accept') ?? '') && request.method === 'GET'
      const lastEventId = request.headers.get('last-event-id')
      return logReply(parts, run, { ...query, follow, lastEventId })
    }),
    route(contract.cancelRun, async ({ params, principal }) => {
      const before = await known(principal, params.id)
      const answer = await app.runs.cancel(before.id, { by: principal.name })
      if (answer === 'finished') return { ...(await changed(principal, before)), change: 'none' }
      return changed(principal, before)
    }),
    route(contract.retryRun, async ({ params, principal, interrupted }) => {
      const before = await known(principal, params.id)
      // Without this check, a run that failed again would be retried twice.
      if (interrupted && (await wasRetried(before.id, interrupted.begunAt))) return changed(principal, before)
      await app.runs.retry(before.id, { by: principal.name })
      return changed(principal, before)
    }),
    route(contract.deleteRun, async ({ params, principal }) => {
      const before = await known(principal, params.id)
      await app.runs.remove(before.id, { by: principal.name })
      const change = { workspace: before.workspace, target: `run ${before.id}`, before: brief(before) }
      return { status: 204, change }
    }),
    route(contract.completeRun, async ({ params, body, principal, interrupted }) => {
      const before = await known(principal, params.id)
      const attempt = attemptOf(body.fence, principal)
      await completeRun(core, before, { attempt, outcome: readCompletion(body) }).catch((error: unknown) => {
        // The crashed server, or the worker of the attempt, has completed it.
        throw interrupted && error instanceof EverytickError && error.code === 'LEASE_LOST'
          ? outcomeUnknown(`look at the run: GET /runs/${before.id}`)
          : error
      })
      // A caller with only a completion token sees no more than a reader.
      const reader = principal.attempt ? { ...principal, scope: 'read' as const } : principal
      return changed(reader, before, { fence: attempt.fence })
    }),
  ]
}

interface AttemptPosition {
  readonly entry: number
  /** The fence of the attempt whose end a page has shown, or 0. */
  readonly told: number
}

const isAttemptPosition = (value: unknown): value is AttemptPosition =>
  isEntryPosition(value) && Number.isSafeInteger((value as { told?: unknown }).told)

/** The workspace of a schedule, even after its removal, because its history remains. */
async function workspaceOf({ schedules, history }: Store, id: string): Promise<string | null> {
  const owner = (await schedules.byId(id)) ?? (await history.revisionPage(id, { limit: 1, maxBytes: 1 })).revisions[0]
  if (owner) return owner.workspace
  const [run] = await history.runs({ scheduleId: id }, { limit: 1, omit: ['payload', 'result'] })
  return run?.workspace ?? null
}

const brief = ({ job, state, attempt, fence, cancelRequested }: Run) => ({
  job,
  state,
  attempt,
  fence,
  cancelRequested,
})

/** A token identifies the attempt; a fence in the body must match it. */
function attemptOf(fence: number | undefined, { attempt }: Principal): AttemptName {
  if (attempt !== undefined && fence !== undefined && fence !== attempt.fence)
    throw new Refusal('REQUEST_INVALID', `the token is for fence ${attempt.fence}, not ${fence}`)
  if (attempt !== undefined) return attempt
  if (fence !== undefined) return { fence }
  throw new Refusal('REQUEST_INVALID', '`fence` is required', {
    hint: 'send the fence of the attempt, or authorization: Bearer with its completion token',
  })
}
