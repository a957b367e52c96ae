/** Decides, purely, what is well, what to mind and what is wrong when the facts are these, and names what mends it; looking them up is the server's. */

import { formatDuration } from '../time/duration.ts'
import { SEVERITIES, type Severity } from './alert-rule.ts'
import type { Failover } from './failover.ts'

/** `wrong`: something that should happen does not, or soon will not. `warning`: it costs, or may mislead. */
export type FindingLevel = 'ok' | 'warning' | 'wrong'

export interface Finding {
  /** What was looked at, such as `clock`. */
  readonly check: string
  readonly level: FindingLevel
  readonly text: string
  /** A command, or what to do; null where nothing is to be done. */
  readonly fix: string | null
}

/** Each part is null when it could not be looked up. */
export interface DiagnosisFacts {
  readonly store: {
    /** For people, such as `sqlite ./everytick.db`. */
    readonly name: string
    readonly version: string
    readonly schemaVersion: number
    readonly newestVersion: number
    readonly claimPlan: 'index' | 'scan' | null
    readonly pooler: boolean | null
    readonly pool: { readonly used: number; readonly size: number; readonly waiting: number } | null
    readonly deadTuples: number | null
    readonly oldestSnapshotMs: number | null
    /** Files of the database that other users of this machine can open. */
    readonly exposedFiles: readonly string[]
  } | null
  /** Why the database takes no writes at this moment; `problem` is null when it takes them. */
  readonly writes: { readonly problem: { readonly text: string; readonly fix: string } | null } | null
  readonly sizes: { readonly schedules: number; readonly quarantined: number; readonly liveRuns: number } | null
  /** How far the clock of whoever looks is ahead of the database's. */
  readonly skewMs: number
  readonly planner: {
    /** Who holds the planner's lease, and for how long still. */
    readonly lease: { readonly holder: string; readonly leftMs: number } | null
    /** Live processes that may plan. */
    readonly schedulers: number
    /** For how long the most overdue schedule has been waiting to be planned. */
    readonly lagMs: number
  } | null
  readonly queues: readonly QueueFacts[] | null
  readonly zoneData: {
    readonly here: string
    readonly nodes: readonly { readonly id: string; readonly tzdata: string }[]
  } | null
  /** The largest first. */
  readonly spikes: readonly SpikeFacts[] | null
  /** Some of those that were set aside. */
  readonly quarantined: readonly { readonly workspace: string; readonly key: string; readonly code: string }[] | null
  /** Channels whose newest message was given up within the last day. */
  readonly deafChannels: readonly { readonly id: string; readonly name: string; readonly error: string | null }[] | null
  /** Failovers of the last days after which writes may be missing, the newest first. */
  readonly failovers: readonly Pick<Failover, 'from' | 'to'>[] | null
  readonly alerts: {
    /** Those that are not over, the newest first. */
    readonly open: readonly AlertSummary[]
    /** Channels that are switched on. */
    readonly channels: number
  } | null
  /** How long ago a server last looked for what alerts are opened for; null when none ever did. */
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
  /** Live processes that take runs from it. */
  readonly workers: number
}

interface SpikeFacts {
  readonly at: number
  readonly fires: number
  readonly jitter: string | null
  /** One that fires then, as `workspace/key`. */
  readonly sample: string | null
}

const MAX_SKEW_MS = 500
/** From here on runs start on the wrong side of their instants. */
const BAD_SKEW_MS = 5000
/** A planner that keeps up has its cursors ahead. */
const MAX_LAG_MS = 10_000
const OLD_SNAPSHOT_MS = 300_000
const VERY_OLD_SNAPSHOT_MS = 3_600_000
const MANY_DEAD = 50_000
const DEAD_PER_LIVE = 10
/** A server looks every 15 seconds; one that restarts is no trouble. */
const MAX_UNWATCHED_MS = 120_000
/** More of one kind are counted, not named. */
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
const unknown = (check: string): Finding => warning(check, `${check} could not be looked at`, 'try again')

function storeFindings(store: NonNullable<DiagnosisFacts['store']>, liveRuns: number): Finding[] {
  const { name, version, schemaVersion, newestVersion, claimPlan, pooler, pool } = store
  const about = `${name} (${version}), schema ${schemaVersion}/${newestVersion}`
  return [
    schemaVersion < newestVersion
      ? wrong('schema', `${about}: changes are missing`, 'everytick migrate --db <address>')
      : schemaVersion > newestVersion
        ? wrong('schema', `${about}: a newer version has been here`, 'upgrade everytick here')
        : ok('schema', about),
    claimPlan === null
      ? warning('claim plan', 'the database does not say how it looks for due runs', 'try again')
      : claimPlan === 'index'
        ? ok('claim plan', 'due runs are found by their index')
        : wrong('claim plan', 'due runs are looked for in the whole table', CLAIM_FIX),
    ...(pool ? [poolFinding(pool)] : []),
    ...(pooler === null ? [] : [poolerFinding(pooler)]),
    ...(store.deadTuples === null ? [] : [deadFinding(store.deadTuples, liveRuns)]),
    ...(store.oldestSnapshotMs === null ? [] : [snapshotFinding(store.oldestSnapshotMs)]),
    ...(store.exposedFiles.length === 0 ? [] : [rightsFinding(store.exposedFiles)]),
  ]
}

const writesFinding = (problem: NonNullable<DiagnosisFacts['writes']>['problem']): Finding =>
  problem === null ? ok('writes', 'the database takes writes') : wrong('writes', problem.text, problem.fix)

const CLAIM_FIX = 'the index runs_pending is missing or not valid: make it again from `everytick migrate --sql`'

function poolFinding({ used, size, waiting }: { used: number; size: number; waiting: number }): Finding {
  if (waiting === 0) return ok('pool', `${used} of ${size} connections in use`)
  const text = `${waiting} callers wait for one of ${size} connections`
  return warning('pool', text, 'raise max of openPostgres(), or start fewer things at once')
}

const poolerFinding = (pooler: boolean): Finding =>
  pooler
    ? warning('pooler', 'a pooler in transaction mode shares our sessions: hints of others are not heard', POOLER_FIX)
    : ok('pooler', 'no pooler in transaction mode')

const POOLER_FIX =
  'connect past it, or add ?listen=false&prepare=false to the address (listen: false, prepare: false in code)'

function deadFinding(dead: number, live: number): Finding {
  const text = `${count(dead)} dead rows beside ${count(live)} live runs`
  return dead > MANY_DEAD && dead > live * DEAD_PER_LIVE
    ? warning('dead rows', text, 'vacuum the table runs, and let autovacuum come more often')
    : ok('dead rows', text)
}

function snapshotFinding(ms: number): Finding {
  if (ms < OLD_SNAPSHOT_MS) return ok('snapshots', 'no old transaction holds up the clearing of dead rows')
  const text = `a transaction has been open for ${lasting(ms)} and keeps dead rows from being cleared`
  const fix = 'find it in pg_stat_activity by xact_start, and end it with pg_terminate_backend(pid)'
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
    'compare runs and schedules with what your systems sent then, and send again what is missing',
  )
}

function clockFinding(skewMs: number): Finding {
  const ms = Math.round(skewMs)
  const text = `clock ${ms < 0 ? '−' : '+'}${Math.abs(ms)} ms against the database (limit ${MAX_SKEW_MS})`
  if (Math.abs(ms) <= MAX_SKEW_MS) return ok('clock', text)
  const fix = 'let a time service such as chrony set the clocks'
  return Math.abs(ms) <= BAD_SKEW_MS ? warning('clock', text, fix) : wrong('clock', text, fix)
}

function plannerFinding(planner: NonNullable<DiagnosisFacts['planner']>, schedules: number): Finding {
  const { lease, schedulers, lagMs } = planner
  const alive = `${schedulers} ${schedulers === 1 ? 'scheduler' : 'schedulers'} alive`
  const led = lease && lease.leftMs > 0 ? `, led by ${lease.holder} (lease ends in ${lasting(lease.leftMs)})` : ''
  if (schedulers === 0 && led === '') {
    const text = 'no process plans: schedules create no runs, and backfills do not go on'
    const fix = 'everytick serve --db <address>, everytick worker --plan, or start() in an app'
    return schedules === 0 ? warning('planner', text, fix) : wrong('planner', text, fix)
  }
  if (lagMs > MAX_LAG_MS)
    return wrong('planner', `planning is ${lasting(lagMs)} behind; ${alive}${led}`, 'look into the log of that process')
  return ok('planner', `${alive}${led}`)
}

function queueFindings(queues: readonly QueueFacts[]): Finding[] {
  const alone = queues.filter(({ ready, workers, paused }) => ready > 0 && workers === 0 && !paused)
  if (alone.length === 0) return [ok('queues', 'every queue in which runs are due has a worker')]
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
  return warning('zone data', text, 'run the same version of everytick everywhere: clock changes may differ until then')
}

function spikeFindings(spikes: readonly SpikeFacts[]): Finding[] {
  if (spikes.length === 0) return [ok('spikes', 'no second of the next day has far more fires than others')]
  return spikes.slice(0, MAX_NAMED).map(({ at, fires, jitter, sample }) => {
    const text = `${new Date(at).toISOString().slice(11, 19)} UTC spike: ${count(fires)} fires in one second`
    const fix =
      jitter === null || sample === null
        ? 'everytick forecast'
        : `give them jitter, such as: everytick schedules edit ${word(sample)} --jitter ${jitter}`
    return warning('spikes', text, fix)
  })
}

function quarantineFindings(some: NonNullable<DiagnosisFacts['quarantined']>, total: number): Finding[] {
  if (some.length === 0) return [ok('quarantine', 'no schedule is set aside')]
  const all = Math.max(total, some.length)
  const named = some.slice(0, MAX_NAMED)
  return named.map(({ workspace, key, code }, i) => {
    const name = `${workspace}/${key}`
    const others = i === named.length - 1 && all > named.length ? ` (and ${count(all - named.length)} more)` : ''
    const text = `schedule ${quoted(name)} cannot be planned: ${code}${others}`
    return wrong('quarantine', text, `everytick schedules get ${word(name)}, then schedules edit`)
  })
}

const NO_CHANNEL = 'no alert channel is set up: alerts reach nobody by themselves'

function channelFindings(deaf: NonNullable<DiagnosisFacts['deafChannels']>, channels: number): Finding[] {
  if (channels === 0)
    return [warning('channels', NO_CHANNEL, 'everytick channels add ops --kind webhook --address https://…')]
  if (deaf.length === 0) return [ok('channels', 'no channel has given up on a message')]
  return deaf.slice(0, MAX_NAMED).map(({ id, name, error }) => {
    const text = `channel ${quoted(name)} does not reach anybody${error === null ? '' : `: ${error}`}`
    return wrong('channels', text, `everytick channels test ${id}`)
  })
}

/** Without it, "no alert is open" would say nothing. */
function watchFinding(lookedAgoMs: number | null): Finding {
  if (lookedAgoMs !== null && lookedAgoMs <= MAX_UNWATCHED_MS)
    return ok('watch', `a server looked for trouble ${lasting(Math.max(0, lookedAgoMs))} ago`)
  const text =
    lookedAgoMs === null
      ? 'no server has looked for trouble yet: alerts do not open'
      : `no server has looked for trouble for ${lasting(lookedAgoMs)}: alerts neither open nor end`
  return warning('watch', text, 'everytick serve --db <address>; workers alone open no alerts')
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
/** As it can be typed: a name may have spaces, or what a shell would obey. */
const word = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
