/** Gathers the facts of a diagnosis. Parts are independent, so that one failure does not affect the others. `observe/diagnosis.ts` evaluates them. */

import type { DiagnosisFacts } from '../observe/diagnosis.ts'
import { DAY_MS } from '../schedule/calendar.ts'
import { tzdataVersion } from '../schedule/time-zone.ts'
import type { Core } from '../scheduler/core.ts'
import type { DocumentStore } from '../store/contract/documents.ts'
import type { Store } from '../store/contract/store.ts'
import type { PoolUsage } from '../store/contract/upkeep.ts'
import type { Clock } from '../time/clock.ts'
import { unresolved } from './alerting/alerts.ts'
import { channelOf } from './alerting/channel.ts'
import { notificationOf } from './alerting/notifications.ts'
import { type Snapshot, takeSnapshot } from './alerting/snapshot.ts'
import { channelsOf } from './alerting/stored-channels.ts'
import { createForecastCache } from './forecast-cache.ts'
import { spikesOf } from './routes/forecast.ts'

const SOME = 20
/** How long a failover is reported. */
const FAILOVER_DAYS = 7
const MESSAGES = 200

export interface ScanRow {
  readonly now: number
  readonly store: string
  readonly facts: DiagnosisFacts
}

export function createDiagnosis({ store: open, clock }: Pick<Core, 'store' | 'clock'>): () => Promise<ScanRow> {
  const cache = createForecastCache(clock)
  return async () => {
    const store = await open()
    // Read before the first query, because the diagnosis itself takes several connections.
    const pool = store.upkeep.pool()
    const snapshot = await takeSnapshot({ store, clock, node: '' })
    const [of, writes, sizes, planner, queues, zoneData, spikes, quarantined, deafChannels, failovers, alerts, watch] =
      await Promise.all([
        known(() => storeFacts(store, pool)),
        known(() => writeFacts(store)),
        known(() => store.stats.sizes()),
        known(() => plannerFacts(snapshot)),
        known(() => snapshot.queues()),
        known(async () => ({ here: tzdataVersion(), nodes: await snapshot.workers() })),
        known(async () => (await cache.get('spikes', () => spikeFacts(store, clock))).value),
        known(() => quarantinedOf(store)),
        known(() => deafChannelsOf(store.documents, snapshot.now)),
        known(() => failoverFacts(snapshot)),
        known(() => alertFacts(store.documents)),
        known(() => watchFacts(snapshot)),
      ])
    const facts = {
      store: of,
      writes,
      sizes,
      skewMs: snapshot.skewMs,
      planner,
      queues,
      zoneData,
      spikes,
      quarantined,
      deafChannels,
      failovers,
      alerts,
      watch,
    }
    return { now: snapshot.now, store: store.name, facts }
  }
}

async function known<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch {
    return null
  }
}

const storeFacts = async (store: Store, pool: PoolUsage | null): Promise<DiagnosisFacts['store']> => ({
  name: store.name,
  pool,
  ...(await store.upkeep.health()),
})

async function writeFacts({ upkeep }: Store): Promise<DiagnosisFacts['writes']> {
  const problem = await upkeep.writeProblem()
  return { problem: problem && { text: problem.message, fix: problem.hint ?? 'try again' } }
}

async function plannerFacts({ store, now, locks, workers }: Snapshot): Promise<DiagnosisFacts['planner']> {
  const [leased, alive, due] = await Promise.all([locks(), workers(), store.planning.due({ lookaheadMs: 0, limit: 1 })])
  const lock = leased.find(({ name }) => name === 'planner')
  const first = due.schedules[0]
  return {
    lease: lock ? { holder: lock.holder, leftMs: lock.until - now } : null,
    schedulers: alive.filter(({ roles }) => roles.includes('scheduler')).length,
    lagMs: first ? Math.max(0, due.now - first.nextAt) : 0,
  }
}

async function watchFacts({ now, rememberedAt }: Snapshot): Promise<DiagnosisFacts['watch']> {
  const at = await rememberedAt()
  return { lookedAgoMs: at === null ? null : now - at }
}

async function failoverFacts({ store, now }: Snapshot): Promise<NonNullable<DiagnosisFacts['failovers']>> {
  const newest = await store.failovers.list(SOME)
  return newest.filter(({ mayHaveLost, to }) => mayHaveLost && to > now - FAILOVER_DAYS * DAY_MS)
}

async function spikeFacts(store: Store, clock: Clock): Promise<NonNullable<DiagnosisFacts['spikes']>> {
  const { spikes } = await spikesOf(store, clock, {})
  return spikes.map(({ at, fires, proposal, top }) => {
    const sample = top[0]?.sample
    return { at, fires, jitter: proposal?.jitter ?? null, sample: sample ? `${sample.workspace}/${sample.key}` : null }
  })
}

async function quarantinedOf({ schedules }: Store): Promise<NonNullable<DiagnosisFacts['quarantined']>> {
  const found = await schedules.find({ quarantined: true }, { limit: SOME, omitPayload: true })
  return found.schedules.map(({ workspace, key, quarantine }) => ({ workspace, key, code: quarantine?.code ?? '' }))
}

async function alertFacts(documents: DocumentStore): Promise<DiagnosisFacts['alerts']> {
  const [stored, channels] = await Promise.all([unresolved(documents), channelsOf(documents, '')])
  const open = stored.map(({ alert }) => alert).filter(({ state }) => state !== 'resolved')
  return {
    open: open.map(({ id, severity, title, openedAt }) => ({ id, severity, title, openedAt })),
    channels: channels.filter(({ enabled }) => enabled).length,
  }
}

/** A channel that has delivered a message since is healthy again. */
async function deafChannelsOf(
  documents: DocumentStore,
  now: number,
): Promise<NonNullable<DiagnosisFacts['deafChannels']>> {
  const newest = async (state: 'sent' | 'failed') => {
    const found = await documents.list('notification', { state, limit: MESSAGES })
    return found.map((document) => ({ at: document.updatedAt, ...notificationOf(document).notification }))
  }
  const failed = (await newest('failed')).filter(({ at }) => at > now - DAY_MS)
  if (failed.length === 0) return []
  const sent = await newest('sent')
  const ids = [...new Set(failed.map(({ channelId }) => channelId))]
  const stored = await Promise.all(ids.map((id) => documents.get('channel', id)))
  const channels = stored.flatMap((document) => (document ? channelOf(document) : []))
  return channels.flatMap(({ id, name, enabled }) => {
    const last = failed.filter(({ channelId }) => channelId === id).sort((a, b) => b.at - a.at)[0]
    const since = last && sent.some(({ channelId, at }) => channelId === id && at > last.at)
    return enabled && last && !since ? [{ id, name, error: last.error }] : []
  })
}
