/** The overview page at `/`, without scripts: totals, active runs, next runs and problems. It calls the API as its reader, and so shows only what the reader may see. */
import { escaped, htmlPage } from './html.ts'

/** Calls a GET operation of the API as the reader of the page and returns the body; throws its refusal. */
export type AskInterface = (path: string) => Promise<unknown>

interface Run {
  readonly id: string
  readonly workspace: string
  readonly job: string
  readonly state: string
  readonly attempt: number
  readonly schedule: { readonly key: string } | null
  readonly dueAt: string
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly progress: { readonly fraction: number; readonly note?: string } | null
  readonly error: { readonly message: string } | null
}
interface Schedule {
  readonly workspace: string
  readonly key: string
  readonly when: string | null
  readonly nextDueAt: string | null
  readonly quarantined: { readonly message: string } | null
  readonly paused: { readonly reason: string; readonly by: string } | null
}
interface Overview {
  readonly at: string
  readonly sizes: { readonly schedules: number; readonly paused: number; readonly liveRuns: number }
  readonly last24h: Readonly<Record<'succeeded' | 'failed' | 'skipped' | 'missed', number>>
  readonly fleet: {
    readonly running: number
    readonly ready: number
    readonly queuesWithoutWorkers: readonly string[]
  } | null
}
interface Alert {
  readonly title: string
  readonly severity: string
  readonly openedAt: string
}
interface Page<T> {
  readonly data: readonly T[]
}

const REFRESH_SECONDS = 5
const SHOWN = 15

export async function overviewPage(ask: AskInterface, base: string): Promise<Response> {
  const [overview, schedules, running, recent, alerts] = (await Promise.all([
    ask('/overview'),
    ask('/schedules?limit=200'),
    ask(`/runs?status=running&limit=${SHOWN}`),
    ask(`/runs?status=succeeded,failed,cancelled&limit=${SHOWN}`),
    ask(`/alerts?state=open&limit=${SHOWN}`),
  ])) as [Overview, Page<Schedule>, Page<Run>, Page<Run>, Page<Alert>]
  const now = Date.parse(overview.at)
  const body = [
    `<h1>Everytick <span class="soft">${instant(overview.at)}</span></h1>`,
    `<p>${countsText(overview)}</p>`,
    section('Problems', problems(overview, schedules.data, alerts.data)),
    section(
      'Running',
      running.data.map((run) => runningRow(run, now)),
    ),
    section('Next', nextRows(schedules.data, now)),
    section('Recent', recent.data.map(recentRow)),
    `<p class="soft">Reloads every ${REFRESH_SECONDS} seconds. <a href="${escaped(base)}/api/docs">Interface</a></p>`,
  ]
  const page = htmlPage('Everytick', body.join('\n'))
  page.headers.set('refresh', String(REFRESH_SECONDS))
  return page
}

const row = (...cells: readonly string[]): string => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`

/** Rows are trusted HTML: the caller has escaped their content. */
const section = (title: string, rows: readonly string[]): string =>
  `<h2>${title}</h2>${rows.length === 0 ? '<p class="soft">none</p>' : `<table>${rows.join('')}</table>`}`

const instant = (text: string | null): string => escaped(text === null ? '' : text.replace('T', ' ').slice(0, 19))

const nameOf = (workspace: string, key: string): string =>
  escaped(workspace === 'default' ? key : `${workspace}/${key}`)

function countsText({ sizes, last24h, fleet }: Overview): string {
  const paused = sizes.paused > 0 ? ` (${sizes.paused} paused)` : ''
  const present = fleet ? ` · ${fleet.running} running · ${fleet.ready} waiting` : ''
  const { succeeded, failed, skipped, missed } = last24h
  const day = `last 24 hours: ${succeeded} succeeded, ${failed} failed, ${skipped} skipped, ${missed} missed`
  return escaped(`${sizes.schedules} schedules${paused}${present} · ${day}`)
}

function problems({ fleet }: Overview, schedules: readonly Schedule[], alerts: readonly Alert[]): readonly string[] {
  return [
    ...alerts.map(({ severity, title, openedAt }) => row(escaped(severity), escaped(title), instant(openedAt))),
    ...(fleet?.queuesWithoutWorkers ?? []).map((queue) => row('queue', `${escaped(queue)}: no live worker`, '')),
    ...schedules.flatMap(({ workspace, key, quarantined }) =>
      quarantined ? row('quarantined', `${nameOf(workspace, key)}: ${escaped(quarantined.message)}`, '') : [],
    ),
  ]
}

function runningRow({ workspace, schedule, job, attempt, startedAt, progress }: Run, now: number): string {
  const since = startedAt === null ? '' : `${spanText(now - Date.parse(startedAt))} so far`
  const far = progress ? `${Math.round(progress.fraction * 100)} % ${progress.note ?? ''}` : ''
  return row(nameOf(workspace, schedule?.key ?? job), `#${attempt}`, escaped(since), escaped(far))
}

function nextRows(schedules: readonly Schedule[], now: number): readonly string[] {
  return schedules
    .filter(({ nextDueAt }) => nextDueAt !== null)
    .sort((a, b) => Date.parse(a.nextDueAt!) - Date.parse(b.nextDueAt!))
    .slice(0, SHOWN)
    .map(({ workspace, key, when, nextDueAt }) => {
      const distance = `in ${spanText(Math.max(0, Date.parse(nextDueAt!) - now))}`
      return row(nameOf(workspace, key), instant(nextDueAt), escaped(distance), escaped(when))
    })
}

function recentRow({ workspace, schedule, job, state, attempt, startedAt, finishedAt, error }: Run): string {
  const took = startedAt && finishedAt ? spanText(Date.parse(finishedAt) - Date.parse(startedAt)) : ''
  const name = nameOf(workspace, schedule?.key ?? job)
  return row(name, escaped(state), `#${attempt}`, instant(finishedAt), escaped(took), escaped(error?.message))
}

function spanText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = Math.round(ms / 1000)
  if (seconds < 120) return `${seconds} s`
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`
}
