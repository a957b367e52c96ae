/** Turns the facts about a fleet and its database into findings with fixes. Pure: the server gathers the facts. */

import { formatDuration } from '../time/duration.ts'
import { SEVERITIES, type Severity } from './alert-rule.ts'
import type { Failover } from './failover.ts'

/** `wrong`: something fails, or will fail soon. `warning`: something is inefficient, or may mislead. */
export type FindingLevel = 'ok' | 'warning' | 'wrong'

export interface Finding {
  /** The name of the check, such as `clock`. */
  readonly check: string
  readonly level: FindingLevel
  readonly text: string
  /** A command, or what to do; null if there is nothing to do. */
  readonly fix: string | null
}

/** A part is null if the server could not read it. */
export interface DiagnosisFacts {
  readonly store: {
    /** For display, such as `sqlite ./everytick.db`. */
    readonly name: string
    readonly version: string
    readonly schemaVersion: number
    readonly newestVersion: number
    readonly claimPlan: 'index' | 'scan' | null
    readonly pooler: boolean | null
    readonly pool: { readonly used: number; readonly size: number; readonly waiting: number } | null
    readonly deadTuples: number | null
    readonly oldestSnapshotMs: number | null
    /** Database files that other users of this machine can open. */
    readonly exposedFiles: readonly string[]
  } | null
  /** Why the database accepts no writes now; `problem` is null if it accepts them. */
  readonly writes: { readonly problem: { readonly text: string; readonly fix: string } | null } | null
  readonly sizes: { readonly schedules: number; readonly quarantined: number; readonly liveRuns: number } | null
  /** Clock of this process minus clock of the database. */
  readonly skewMs: number
  readonly planner: {
    /** The holder of the planner lease, and the time until it expires. */
    readonly lease: { readonly holder: string; readonly leftMs: number } | null
    /** Live processes with the scheduler role. */
    readonly schedulers: number
    /** How long the most overdue schedule has waited to be planned. */
    readonly lagMs: number
  } | null
  readonly queues: readonly QueueFacts[] | null
  readonly zoneData: {
    readonly here: string
    readonly nodes: readonly { readonly id: string; readonly tzdata: string }[]
  } | null
  /** The largest first. */
  readonly spikes: readonly SpikeFacts[] | null
  /** Some of the quarantined schedules. */
  readonly quarantined: readonly { readonly workspace: string; readonly key: string; readonly code: string }[] | null
  /** Channels whose newest message failed for good within the last day. */
  readonly deafChannels: readonly { readonly id: string; readonly name: string; readonly error: string | null }[] | null
  /** Recent failovers that may have lost writes, newest first. */
  readonly failovers: readonly Pick<Failover, 'from' | 'to'>[] | null
  readonly alerts: {
    /** Unresolved alerts, newest first. */
    readonly open: readonly AlertSummary[]
    /** Enabled channels. */
    readonly channels: number
  } | null
  /** How long ago a server last evaluated the alert rules; null if none ever did. */
  readonly watch: { readonly lookedAgoMs: number | null } | null
}

interface AlertSummary {
  readonly id: string
  readonly severity: Severity
  readonly title: string
  readonly openedAt: number
}

interface QueueFacts {
  readonly name: string
  readonly ready: number
  readonly paused: boolean
  /** Live processes that serve the queue. */
  readonly workers: number
}

interface SpikeFacts {
  readonly at: number
  readonly fires: number
  readonly jitter: string | null
  /** A schedule that fires in that second, as `workspace/key`. */
  readonly sample: string | null
}

const MAX_SKEW_MS = 500
/** With more skew than this, runs start noticeably early or late. */
const BAD_SKEW_MS = 5000
/** A planner that keeps up has its cursors in the future. */
const MAX_LAG_MS = 10_000
const OLD_SNAPSHOT_MS = 300_000
const VERY_OLD_SNAPSHOT_MS = 3_600_000
const MANY_DEAD = 50_000
const DEAD_PER_LIVE = 10
/** A server evaluates the rules every 15 seconds; a restart may take longer. */
const MAX_UNWATCHED_MS = 120_000
/** Further findings of one kind are counted, not listed. */
const MAX_NAMED = 5

export function diagnose(facts: DiagnosisFacts): Finding[] {
  return [
    ...(facts.store ? storeFindings(facts.store, facts.sizes?.liveRuns ?? 0) : [unknown('store')]),
    facts.writes ? writesFinding(facts.writes.problem) : unknown('writes'),
    ...(facts.failovers ? facts.failovers.slice(0, MAX_NAMED).map(failoverFinding) : [unknown('failover')]),
    clockFinding(facts.skewMs),
    facts.planner ? plannerFinding(facts.planner, facts.sizes?.schedules ?? 0) : unknown('planner'),
    ...(facts.queues ? queueFindings(facts.queues) : [unknown('queues')]),
    facts.zoneData ? zoneFinding(facts.zoneData) : unknown('zone data'),
    ...(facts.spikes ? spikeFindings(facts.spikes) : [unknown('spikes')]),
    ...(facts.quarantined
      ? quarantineFindings(facts.quarantined, facts.sizes?.quarantined ?? 0)
      : [unknown('quarantine')]),
    ...(facts.deafChannels ? channelFindings(facts.deafChannels, facts.alerts?.channels ?? 1) : [unknown('channels')]),
    facts.watch ? watchFinding(facts.watch.lookedAgoMs) : unknown('watch'),
    ...(facts.alerts ? alertFindings(facts.alerts.open) : [unknown('alerts')]),
  ]
}

const ok = (check: string, text: string): Finding => ({ check, level: 'ok', text, fix: null })
const warning = (check: string, text: string, fix: string): Finding => ({ check, level: 'warning', text, fix })
const wrong = (check: string, text: string, fix: string): Finding => ({ check, level: 'wrong', text, fix })
const unknown = (check: string): Finding => warning(check, `${check} could not be checked`, 'try again')

function storeFindings(store: NonNullable<DiagnosisFacts['store']>, liveRuns: number): Finding[] {
  const { name, version, schemaVersion, newestVersion, claimPlan, pooler, pool } = store
  const about = `${name} (${version}), schema ${schemaVersion}/${newestVersion}`
  return [
    schemaVersion < newestVersion
      ? wrong('schema', `${about}: migrations are missing`, 'everytick migrate --db <address>')
      : schemaVersion > newestVersion
        ? wrong('schema', `${about}: a newer version has migrated this database`, 'upgrade everytick on this machine')
        : ok('schema', about),
    claimPlan === null
      ? warning('claim plan', 'the database does not report how it finds due runs', 'try again')
      : claimPlan === 'index'
        ? ok('claim plan', 'claims find due runs by index')
        : wrong('claim plan', 'claims scan the whole table for due runs', CLAIM_FIX),
    ...(pool ? [poolFinding(pool)] : []),
    ...(pooler === null ? [] : [poolerFinding(pooler)]),
    ...(store.deadTuples === null ? [] : [deadFinding(store.deadTuples, liveRuns)]),
    ...(store.oldestSnapshotMs === null ? [] : [snapshotFinding(store.oldestSnapshotMs)]),
    ...(store.exposedFiles.length === 0 ? [] : [rightsFinding(store.exposedFiles)]),
  ]
}

const writesFinding = (problem: NonNullable<DiagnosisFacts['writes']>['problem']): Finding =>
  problem === null ? ok('writes', 'the database accepts writes') : wrong('writes', problem.text, problem.fix)

const CLAIM_FIX = 'the index runs_pending is missing or invalid: recreate it from `everytick migrate --sql`'

function poolFinding({ used, size, waiting }: { used: number; size: number; waiting: number }): Finding {
  if (waiting === 0) return ok('pool', `${used} of ${size} connections in use`)
  const text = `${waiting} callers wait for one of ${size} connections`
  return warning('pool', text, 'raise max of openPostgres(), or start fewer runs at once')
}

const poolerFinding = (pooler: boolean): Finding =>
  pooler
    ? warning(
        'pooler',
        'a pooler in transaction mode shares the sessions: notifications from other processes do not arrive',
        POOLER_FIX,
      )
    : ok('pooler', 'no pooler in transaction mode')

const POOLER_FIX =
  'connect directly, or add ?listen=false&prepare=false to the address (listen: false, prepare: false in code)'

function deadFinding(dead: number, live: number): Finding {
  const text = `${count(dead)} dead rows and ${count(live)} live runs`
  return dead > MANY_DEAD && dead > live * DEAD_PER_LIVE
    ? warning('dead rows', text, 'vacuum the table runs, and make autovacuum more frequent')
    : ok('dead rows', text)
}

function snapshotFinding(ms: number): Finding {
  if (ms < OLD_SNAPSHOT_MS) return ok('snapshots', 'no old transaction blocks the vacuuming of dead rows')
  const text = `a transaction has been open for ${lasting(ms)} and blocks the vacuuming of dead rows`
  const fix = 'find it in pg_stat_activity by xact_start, and terminate it with pg_terminate_backend(pid)'
  return ms < VERY_OLD_SNAPSHOT_MS ? warning('snapshots', text, fix) : wrong('snapshots', text, fix)
}

const rightsFinding = (files: readonly string[]): Finding =>
  warning(
    'rights',
    `other users of this machine can open ${files.join(', ')}, which may hold payloads, keys and passwords of channels`,
    `chmod 600 ${files.map(word).join(' ')}`,
  )

function failoverFinding({ from, to }: Pick<Failover, 'from' | 'to'>): Finding {
  const [after, until] = [new Date(from).toISOString(), new Date(to).toISOString()]
  const text = `the database failed over: writes acknowledged from ${after} to ${until} may be missing`
  return warning(
    'failover',
    text,
    'compare runs and schedules with what your systems sent in that period, and send again what is missing',
  )
}

function clockFinding(skewMs: number): Finding {
  const ms = Math.round(skewMs)
  const text = `clock ${ms < 0 ? '−' : '+'}${Math.abs(ms)} ms against the database (limit ${MAX_SKEW_MS})`
  if (Math.abs(ms) <= MAX_SKEW_MS) return ok('clock', text)
  const fix = 'synchronize the clocks with a time service such as chrony'
  return Math.abs(ms) <= BAD_SKEW_MS ? warning('clock', text, fix) : wrong('clock', text, fix)
}

function plannerFinding(planner: NonNullable<DiagnosisFacts['planner']>, schedules: number): Finding {
  const { lease, schedulers, lagMs } = planner
  const alive = `${schedulers} ${schedulers === 1 ? 'scheduler' : 'schedulers'} alive`
  const led = lease && lease.leftMs > 0 ? `, led by ${lease.holder} (lease ends in ${lasting(lease.leftMs)})` : ''
  if (schedulers === 0 && led === '') {
    const text = 'no process plans: schedules create no runs, and backfills do not continue'
    const fix = 'everytick serve --db <address>, everytick worker --plan, or start() in an app'
    return schedules === 0 ? warning('planner', text, fix) : wrong('planner', text, fix)
  }
  if (lagMs > MAX_LAG_MS)
    return wrong('planner', `planning is ${lasting(lagMs)} behind; ${alive}${led}`, 'check the log of that process')
  return ok('planner', `${alive}${led}`)
}

function queueFindings(queues: readonly QueueFacts[]): Finding[] {
  const alone = queues.filter(({ ready, workers, paused }) => ready > 0 && workers === 0 && !paused)
  if (alone.length === 0) return [ok('queues', 'every queue with due runs has a worker')]
  return alone.map(({ name, ready }) =>
    wrong(
      'queues',
      `queue ${quoted(name)}: ${count(ready)} ready, no worker`,
      `everytick worker --queues ${word(name)}`,
    ),
  )
}

function zoneFinding({ here, nodes }: NonNullable<DiagnosisFacts['zoneData']>): Finding {
  const others = nodes.filter(({ tzdata }) => tzdata !== here)
  if (others.length === 0) return ok('zone data', `tzdata ${here} everywhere`)
  const named = others.slice(0, MAX_NAMED).map(({ id, tzdata }) => `${id} ${tzdata}`)
  const text = `tzdata: here ${here}, ${[...named, ...more(others.length)].join(', ')}`
  return warning(
    'zone data',
    text,
    'run the same version of everytick on every machine: until then clock changes may differ',
  )
}

function spikeFindings(spikes: readonly SpikeFacts[]): Finding[] {
  if (spikes.length === 0) return [ok('spikes', 'no second of the next 24 hours has far more fires than the others')]
  return spikes.slice(0, MAX_NAMED).map(({ at, fires, jitter, sample }) => {
    const text = `${new Date(at).toISOString().slice(11, 19)} UTC spike: ${count(fires)} fires in one second`
    const fix =
      jitter === null || sample === null
        ? 'everytick forecast'
        : `spread them with jitter, for example: everytick schedules edit ${word(sample)} --jitter ${jitter}`
    return warning('spikes', text, fix)
  })
}

function quarantineFindings(some: NonNullable<DiagnosisFacts['quarantined']>, total: number): Finding[] {
  if (some.length === 0) return [ok('quarantine', 'no schedule is quarantined')]
  const all = Math.max(total, some.length)
  const named = some.slice(0, MAX_NAMED)
  return named.map(({ workspace, key, code }, i) => {
    const name = `${workspace}/${key}`
    const others = i === named.length - 1 && all > named.length ? ` (and ${count(all - named.length)} more)` : ''
    const text = `schedule ${quoted(name)} cannot be planned: ${code}${others}`
    return wrong('quarantine', text, `everytick schedules get ${word(name)}, then schedules edit`)
  })
}

const NO_CHANNEL = 'no alert channel is set up: Everytick sends no notifications'

function channelFindings(deaf: NonNullable<DiagnosisFacts['deafChannels']>, channels: number): Finding[] {
  if (channels === 0)
    return [warning('channels', NO_CHANNEL, 'everytick channels add ops --kind webhook --address https://…')]
  if (deaf.length === 0) return [ok('channels', 'no channel has failed to deliver a message')]
  return deaf.slice(0, MAX_NAMED).map(({ id, name, error }) => {
    const text = `channel ${quoted(name)} does not deliver${error === null ? '' : `: ${error}`}`
    return wrong('channels', text, `everytick channels test ${id}`)
  })
}

/** Without this check, "no alert is open" would prove nothing. */
function watchFinding(lookedAgoMs: number | null): Finding {
  if (lookedAgoMs !== null && lookedAgoMs <= MAX_UNWATCHED_MS)
    return ok('watch', `a server checked the alert rules ${lasting(Math.max(0, lookedAgoMs))} ago`)
  const text =
    lookedAgoMs === null
      ? 'no server has checked the alert rules yet: alerts do not open'
      : `no server has checked the alert rules for ${lasting(lookedAgoMs)}: alerts neither open nor resolve`
  return warning('watch', text, 'everytick serve --db <address>; workers do not check alert rules')
}

function alertFindings(open: readonly AlertSummary[]): Finding[] {
  if (open.length === 0) return [ok('alerts', 'no alert is open')]
  const worst = [...open].sort((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity))
  const named = worst.slice(0, MAX_NAMED)
  return named.map(({ id, severity, title, openedAt }, i) => {
    const others =
      i === named.length - 1 && open.length > named.length ? ` (and ${count(open.length - named.length)} more)` : ''
    const text = `${title}, since ${new Date(openedAt).toISOString()}${others}`
    const fix = `everytick alerts ls, then alerts ack ${id}`
    return severity === 'critical' ? wrong('alerts', text, fix) : warning('alerts', text, fix)
  })
}

const more = (all: number): string[] => (all > MAX_NAMED ? [`${all - MAX_NAMED} more`] : [])
const count = (number: number): string => Math.round(number).toLocaleString('en')
const lasting = (ms: number): string => formatDuration(ms < 1000 ? Math.round(ms) : Math.floor(ms / 1000) * 1000)
const quoted = (text: string): string => JSON.stringify(text)
/** Quoted for a shell: a name may contain spaces or shell syntax. */
const word = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
