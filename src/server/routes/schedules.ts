/** HTTP handlers of schedules: check access, then call the scheduler. */
import { didYouMean } from '../../did-you-mean.ts'
import { readInstantOption, refused } from '../../options.ts'
import { jitterMs } from '../../schedule/jitter.ts'
import { type Schedule, seedOf } from '../../schedule/schedule.ts'
import { findingRuns, type WantedRuns } from '../../schedule/search.ts'
import type { SearchBudget } from '../../schedule/search-budget.ts'
import { slotsOf } from '../../schedule/slots.ts'
import type { ScheduleOptions } from '../../schedule-definition.ts'
import type { Core } from '../../scheduler/core.ts'
import { revisionView } from '../../scheduler/revisions.ts'
import type { ScheduleChanges } from '../../scheduler/schedule-edit.ts'
import { scheduleView, viewOf, viewsOf } from '../../scheduler/schedule-view.ts'
import { createSchedules } from '../../scheduler/schedules.ts'
import type { ScheduleFilter } from '../../store/contract/schedules.ts'
import { inSteps } from '../../time/in-steps.ts'
import * as contract from '../contract/schedules.ts'
import { DEFAULT_LIMIT, PAGE_BYTES } from '../contract/vocabulary.ts'
import { createOnce } from '../create-once.ts'
import { fromCursor, isEntryPosition, toCursor } from '../cursor.ts'
import { defined } from '../defined.ts'
import { idempotencyId } from '../idempotency.ts'
import { matches, refuseAnyTag, wantedTags } from '../if-match.ts'
import { mapInSlices } from '../in-slices.ts'
import { jobWarnings } from '../job-warning.ts'
import type { Parts } from '../parts.ts'
import { callerOf, home, type Principal, sees, visible } from '../principal.ts'
import { notFound, Refusal } from '../problem.ts'
import { ok, type ParsedRequest, type Reply, type Route, route } from '../route.ts'
import { runningWork } from '../running-work.ts'
import { shownWords, shows } from '../shown.ts'
import { type WarningBody, warningsOf } from '../warnings.ts'

const GUESSED_FROM = 200
/** A cursor further behind the clock than this is overdue. */
const OVERDUE_MS = 30_000
/** The limit per workspace, because one process executes all backfills in turn. */
const MAX_RUNNING_BACKFILLS = 20

export function scheduleRoutes(parts: Parts): readonly Route[] {
  const { app, core } = parts
  const shown = shows(parts)

  const known = async (principal: Principal, id: string): Promise<Schedule> => {
    const found = await (await core.store()).schedules.byId(id)
    if (found && sees(principal, found.workspace)) return found
    throw notFound(`schedule ${id}`)
  }
  /** Adds a did-you-mean hint from the first keys of the workspace. */
  const noSuchSchedule = async (principal: Principal, { workspace, key }: Position): Promise<Refusal> => {
    const { schedules } = await core.store()
    const page = { limit: GUESSED_FROM, maxBytes: PAGE_BYTES, omitPayload: true }
    const found = sees(principal, workspace) ? await schedules.find({ workspace }, page) : null
    const near = didYouMean(key, found?.schedules.map((each) => each.key) ?? [])
    return notFound(`schedule "${key}"`, near === undefined ? {} : { hint: `did you mean "${near}"?` })
  }
  const view = async (schedule: Schedule) => viewOf(await core.store(), schedule)
  const targetOf = ({ workspace, key }: { workspace: string; key: string }): string => `schedule ${workspace}/${key}`

  const beginWork = runningWork({
    what: 'backfills',
    limit: MAX_RUNNING_BACKFILLS,
    count: async (workspace, limit) =>
      (await (await core.store()).backfills.list({ workspace, state: 'running', limit })).length,
  })

  /** Refuses a job change without a new payload: the new job may not redact the same parts. */
  const refuseUnveiling = (before: Schedule, { job, payload }: { job?: unknown; payload?: unknown }): void => {
    if (job === undefined || job === before.job || payload !== undefined || before.payload === null) return
    if (parts.jobs.redactOf(before.job)?.length === 0) return
    throw refused('the job changes, and the old job may redact parts of the stored payload', 'send payload too')
  }

  /** The schedule after a change, with the change for the audit log. */
  const changed = async (
    asked: Pick<ParsedRequest, 'principal' | 'base'>,
    { id, before, status = 200, wanted }: Written,
  ): Promise<Reply> => {
    const store = await core.store()
    const schedule = await store.schedules.byId(id)
    if (!schedule) throw notFound(`schedule ${id}`)
    const now = await store.now()
    const view = await viewOf(store, schedule)
    const { workspace, revision } = schedule
    return {
      status,
      body: shown.schedule(view, asked, {
        warnings: [
          ...(await jobWarnings(parts, schedule.job)),
          ...warningsOf(schedule, now),
          ...pauseKept(schedule, wanted),
        ],
      }),
      headers: { etag: `"${revision}"`, ...(status === 201 ? { location: `${asked.base}/schedules/${id}` } : {}) },
      change:
        JSON.stringify([before?.revision, before?.pause]) === JSON.stringify([revision, schedule.pause])
          ? 'none'
          : {
              workspace,
              target: targetOf(schedule),
              before: shown.recorded(before && scheduleView(before, { now, lastFiredAt: null })),
              after: shown.recorded(view),
            },
    }
  }

  return [
    route(contract.listSchedules, async ({ query, principal }) => {
      const store = await core.store()
      const { limit = DEFAULT_LIMIT, cursor, last, include = [] } = query
      const after = fromCursor(cursor, isPosition)
      const omitPayload = !include.includes('payload')
      const page = { limit, maxBytes: PAGE_BYTES, omitPayload, ...(after ? { after } : {}) }
      const { schedules, next } = await store.schedules.find(filterOf(query, principal), page)
      const views = await viewsOf(store, schedules)
      const latest = last
        ? await store.history.latest(
            schedules.map(({ id }) => id),
            last,
          )
        : null
      const lastOf = (id: string) => ({
        last: (latest?.get(id) ?? []).map(({ id, state, scheduledAt }) => ({
          ...{ id, state },
          scheduledAt: new Date(scheduledAt),
        })),
      })
      const data = await mapInSlices(schedules, ({ id }, i) =>
        shown.schedule(views[i]!, { principal, include }, latest ? lastOf(id) : {}),
      )
      return ok({ data, page: { next: next && toCursor(next), hasMore: next !== null } })
    }),
    route(contract.createSchedule, async ({ body, principal, request, base, newId, interrupted }) => {
      refuseAnyTag(request)
      const options = { ...body, workspace: home(principal, body.workspace) } as unknown as ScheduleOptions
      await createOnce(
        { interrupted },
        async () => void (await createSchedules(withId(core, newId)).create(options, { by: principal.name })),
        async () => ((await (await core.store()).schedules.byId(newId)) ? undefined : null),
      )
      return changed({ principal, base }, { id: newId, before: null, status: 201 })
    }),
    route(contract.putSchedule, async ({ params, body, principal, request, base }) => {
      const { workspace, key } = params
      if (!sees(principal, workspace)) throw notFound(`workspace "${workspace}"`)
      const before = await (await core.store()).schedules.get(workspace, key)
      const revision = matchOf(request, before)
      const options = { ...body, workspace, key } as unknown as ScheduleOptions
      const seen = revision === null ? {} : { revision }
      const { id, created } = await app.schedules.upsert(options, { by: principal.name, ...seen })
      const wanted = created ? undefined : body.paused
      const written = { id, before: created ? null : before, status: created ? 201 : 200, wanted }
      return changed({ principal, base }, written)
    }),
    route(contract.getScheduleByKey, async ({ params, principal }) => {
      const found = sees(principal, params.workspace)
        ? await (await core.store()).schedules.get(params.workspace, params.key)
        : null
      if (!found) throw await noSuchSchedule(principal, params)
      return ok(shown.schedule(await view(found), { principal }), { etag: `"${found.revision}"` })
    }),
    route(contract.getSchedule, async ({ params, principal }) => {
      const found = await known(principal, params.id)
      return ok(shown.schedule(await view(found), { principal }), { etag: `"${found.revision}"` })
    }),
    route(contract.patchSchedule, async ({ params, body, principal, request, base }) => {
      const before = await known(principal, params.id)
      const { force, ...changes } = body
      const revision = matchOf(request, before)
      refuseUnveiling(before, changes)
      await app.schedules.edit(before.workspace, before.key, changes as ScheduleChanges, {
        by: principal.name,
        ...(force === undefined ? {} : { force }),
        ...(revision === null ? {} : { revision }),
      })
      return changed({ principal, base }, { id: before.id, before })
    }),
    route(contract.deleteSchedule, async ({ params, principal, request }) => {
      const before = await known(principal, params.id)
      const { workspace, key, revision } = before
      const wanted = matchOf(request, before)
      if (wanted !== null && wanted !== revision) throw outdated(before, wanted)
      if (!(await app.schedules.remove(workspace, key, { by: principal.name }))) throw notFound(`schedule ${params.id}`)
      const change = { workspace, target: targetOf(before), before: shown.recorded(await view(before)) }
      return { status: 204, change }
    }),
    route(contract.pauseSchedule, async ({ params, body, principal, request, base }) => {
      const before = await known(principal, params.id)
      matchOf(request, before)
      await app.schedules.pause(before.workspace, before.key, { ...defined(body), by: principal.name })
      return changed({ principal, base }, { id: before.id, before })
    }),
    route(contract.resumeSchedule, async ({ params, body, principal, request, base }) => {
      const before = await known(principal, params.id)
      matchOf(request, before)
      await app.schedules.resume(before.workspace, before.key, { ...defined(body), by: principal.name })
      return changed({ principal, base }, { id: before.id, before })
    }),
    route(contract.triggerSchedule, async ({ params, body, principal, request, base, interrupted }) => {
      const schedule = await known(principal, params.id)
      const { workspace, key } = schedule
      const said = request.headers.get('idempotency-key')
      const run = await app.schedules.trigger(workspace, key, {
        ...defined(body),
        // The run stores the key too, so a crash before the response does not create a second run.
        ...(said === null ? {} : { idempotencyKey: `http:${idempotencyId(callerOf(principal), said)}` }),
      })
      const { id, created } = run
      const warnings = await jobWarnings(parts, schedule.job)
      return {
        status: 202,
        body: { id, created, ...(warnings.length > 0 ? { warnings } : {}) },
        headers: { location: `${base}/runs/${id}` },
        change: created || interrupted ? { workspace, target: targetOf(schedule), after: { run: id } } : 'none',
      }
    }),
    route(contract.createBackfill, async ({ params, body, principal, base, newId, interrupted }) => {
      const schedule = await known(principal, params.id)
      const { workspace, key } = schedule
      const { from, to, ...options } = body
      const wanted = { from, to, ...defined(options), by: principal.name }
      const answer = await createOnce(
        { interrupted },
        () => {
          const begin = () => createSchedules(withId(core, newId)).backfill(workspace, key, wanted)
          return body.dryRun === true || interrupted ? begin() : beginWork(principal, begin)
        },
        async () => {
          if (!(await app.backfills.get(newId))) return null
          // The counts are current: the backfill may have created some of its runs already.
          return { ...(await app.schedules.backfill(workspace, key, { ...wanted, dryRun: true })), id: newId }
        },
      )
      if (answer.id === null) return { status: 200, body: answer, change: 'none' }
      return {
        status: 202,
        body: answer,
        headers: { location: `${base}/backfills/${answer.id}` },
        change: { workspace, target: targetOf(schedule), after: { backfill: answer.id, from, to } },
      }
    }),
    route(contract.listBackfills, async ({ params, principal }) => {
      const { workspace, key } = await known(principal, params.id)
      return ok({ data: await app.backfills.list({ schedule: key, workspace }) })
    }),
    route(contract.nextOccurrences, async ({ params, query, principal, budget }) => {
      const schedule = await known(principal, params.id)
      const fromAt = query.from === undefined ? await (await core.store()).now() : readInstantOption(query.from, 'from')
      return ok({ data: await comingOf(schedule, { afterAt: fromAt, count: query.n ?? 10 }, budget) })
    }),
    route(contract.whySchedule, async ({ params, query, principal }) => {
      const { workspace, key } = await known(principal, params.id)
      return ok(shownWords(await app.schedules.why(workspace, key, query.at)))
    }),
    route(contract.listRevisions, async ({ params, query, principal }) => {
      const { schedules, history } = await core.store()
      const { limit = DEFAULT_LIMIT, include = [] } = query
      const after = fromCursor(query.cursor, isEntryPosition)
      const page = { limit, maxBytes: PAGE_BYTES, ...(after ? { after: after.entry } : {}) }
      const { revisions, next } = await history.revisionPage(params.id, page)
      // Revisions remain after the removal of the schedule.
      const owner = (await schedules.byId(params.id)) ?? revisions[0]
      if (!owner || !sees(principal, owner.workspace)) throw notFound(`schedule ${params.id}`)
      const data = await mapInSlices(revisions, (each) => shown.revision(revisionView(each), { principal, include }))
      return ok({ data, page: { next: next === null ? null : toCursor({ entry: next }), hasMore: next !== null } })
    }),
  ]
}

/** The scheduler API, whose next call creates a resource with this id. */
const withId = (core: Core, id: string): Core => ({ ...core, newId: () => id })

interface Written {
  readonly id: string
  readonly before: Schedule | null
  readonly status?: number
  /** Whether the request asks for a pause, for a schedule that already existed. */
  readonly wanted?: boolean | object | undefined
}

/** A pause is state: replacing the definition neither pauses nor resumes. */
function pauseKept({ pause }: Schedule, wanted: Written['wanted']): WarningBody[] {
  if (wanted === undefined || (wanted !== false) === (pause !== null)) return []
  const [is, verb] = pause === null ? ['active', 'pause'] : ['paused', 'resume']
  const text = `the schedule exists and stays ${is}: "paused" applies to new schedules only; use POST /schedules/{id}/${verb}`
  return [{ code: 'PAUSE_KEPT', at: null, text }]
}

interface Position {
  readonly workspace: string
  readonly key: string
}

const isPosition = (value: unknown): value is Position => {
  const { workspace, key } = (value ?? {}) as { workspace?: unknown; key?: unknown }
  return typeof workspace === 'string' && typeof key === 'string'
}

type Query = ParsedRequest<typeof contract.listSchedules>['query']

function filterOf(query: Query, principal: Principal): ScheduleFilter {
  const { q, job, tag, source, enabled, health } = query
  return {
    ...visible(principal, query.workspace),
    ...defined({ job, tag, source, text: q }),
    ...(enabled === undefined ? {} : { paused: !enabled }),
    ...(health === 'paused' ? { paused: true } : {}),
    ...(health === 'quarantined' ? { quarantined: true } : {}),
    ...(health === 'overdue' ? { overdueMs: OVERDUE_MS } : {}),
  }
}

/** The revision from If-Match; null if any will do. */
function matchOf(request: Request, schedule: Schedule | null): number | null {
  const wanted = wantedTags(request)
  if (wanted === null) return null
  if (!schedule) throw new Refusal('PRECONDITION_FAILED', 'the schedule does not exist')
  if (!matches(wanted, String(schedule.revision))) throw outdated(schedule, request.headers.get('if-match'))
  return wanted === 'any' ? null : schedule.revision
}

const outdated = (schedule: Schedule, seen: unknown): Refusal =>
  new Refusal(
    'PRECONDITION_FAILED',
    `the schedule is at revision ${schedule.revision}, not ${String(seen).slice(0, 30)}`,
    {
      hint: 'read it again, and repeat the change if it still applies',
    },
  )

async function comingOf(
  schedule: Schedule,
  wanted: WantedRuns,
  budget: SearchBudget,
): Promise<{ scheduledAt: Date; dueAt: Date }[]> {
  const seed = seedOf(schedule)
  const slots = slotsOf(schedule.timing, seed)
  const coming = await inSteps(findingRuns(slots, wanted, budget))
  return coming.map((at) => {
    const late = jitterMs(schedule.firing.jitter, seed, { at, nextAt: slots.nextAt(at) })
    return { scheduledAt: new Date(at), dueAt: new Date(at + late) }
  })
}
