/** Checks the server behind a connection before its first use, and has a failover recorded before anything else is done; what counts as one is decided by `lineage.ts`. */
import { EverytickError } from '../../errors.ts'
import type { Failover } from '../../observe/failover.ts'
import type { Clock } from '../../time/clock.ts'
import { type FailoverStore, NO_FAILOVERS } from '../contract/failovers.ts'
import type { Client } from './client.ts'
import type { Admission, Connection, Executor } from './connection.ts'
import { type FailoverNotes, openFailoverNotes } from './failover-notes.ts'
import { isForbidden, isReadOnly } from './failure.ts'
import { decideLineage, type LineageDecision, type LogState, type Memory } from './lineage.ts'
import { type Ask, unprepared } from './statement.ts'

/** After a failover, what was acknowledged since the last note is in question. Each note costs one write. */
const NOTE_MS = 4000

export interface ServerAdmission extends Admission {
  /** From here on there is a schema, in which the note stands; connections that were open before are checked again. */
  watch(connection: Connection, schema: string): Promise<FailoverStore>
}

export interface ServerAdmissionOptions {
  /** Of the store, for messages. */
  readonly name: string
  readonly clock: Pick<Clock, 'elapsed'>
}

export function createServerAdmission({ name, clock }: ServerAdmissionOptions): ServerAdmission {
  /** Which server each connection led to when it was checked. */
  const checked = new WeakMap<Client, string>()
  const listeners = new Set<(failover: Failover) => void>()
  let unheard: Failover[] = []
  let lastId = ''
  let notes: FailoverNotes | null = null
  /** The server last seen, with the position of the newest note that was seen or written there. */
  let seen: LogState | null = null
  let seenAt = 0
  let answeredAt = 0
  let notedAt = Number.NEGATIVE_INFINITY
  let current = ''

  const memory = (): Memory | null => seen && { ...seen, acknowledgedAt: seen.at + Math.max(0, answeredAt - seenAt) }

  /** `askedAt`: when the server was asked, before its clock showed `state.at`. */
  const remember = (state: LogState, askedAt: number): void => {
    seen = state
    seenAt = askedAt
    answeredAt = clock.elapsed()
    current = nameOf(state)
  }

  const emit = (failover: Failover): void => {
    if (failover.id === lastId) return
    lastId = failover.id
    if (listeners.size === 0) unheard.push(failover)
    for (const listener of listeners) listener(failover)
  }

  /** `state` is what to remember of the server: its state, with the position of the note. */
  const take = (decision: LineageDecision, state: LogState, { askedAt, server }: Check): void => {
    if (decision.kind === 'outdated')
      throw notPrimary(`${server} is an old primary server, which a failover has replaced`)
    if (decision.kind === 'same') {
      // Checks overlap: one that began earlier may end later.
      if (!seen || (seen.timeline === state.timeline && seen.position <= state.position)) remember(state, askedAt)
      return
    }
    remember(state, askedAt)
    emit(decision.failover)
  }

  /** Decides again while nobody else does, and writes the record, if there is to be one, together with the note. */
  const settle = async ({ transact }: Executor, notes: FailoverNotes, server: string): Promise<void> => {
    const { lock, read, record, write } = notes
    const askedAt = clock.elapsed()
    const [decision, now] = await transact(async (ask) => {
      await lock(ask)
      const before = memory()
      const { now, ...found } = await read(ask)
      const decision = decideLineage({ memory: before, now, ...found })
      if (decision.kind === 'failed_over') await record(ask, decision.failover)
      if (decision.kind !== 'outdated') await write(ask, now)
      return [decision, now] as const
    })
    take(decision, now, { askedAt, server })
    notedAt = askedAt
  }

  /** Answers which server this is. */
  const check = async (executor: Executor, notes: FailoverNotes, server: string): Promise<string> => {
    // Before the question: what this process learns meanwhile may be newer than the answer.
    const [before, askedAt] = [memory(), clock.elapsed()]
    const found = await notes.read(executor.ask)
    const { now, stored } = found
    const decision = decideLineage({ memory: before, ...found })
    if (decision.kind !== 'failed_over')
      take(decision, { ...now, position: stored?.position ?? 0 }, { askedAt, server })
    else
      await settle(executor, notes, server).catch((error) => {
        // A role that writes nothing leaves the record to others.
        if (!isForbidden(error) && !isReadOnly(error)) throw error
        remember({ ...now, position: stored?.position ?? 0 }, askedAt)
      })
    return nameOf(now)
  }

  return {
    isAdmitted: (client) => checked.get(client) === current,
    async admit(client, executor, server) {
      await assertWritable(executor.ask, server)
      checked.set(client, notes ? await check(executor, notes, server) : current)
    },
    answered() {
      answeredAt = clock.elapsed()
    },
    async watch({ hot, api }, schema) {
      const opened = await openFailoverNotes(api.ask, schema)
      if (!opened) return NO_FAILOVERS
      notes = opened
      current = 'not checked'
      return {
        async confirm() {
          if (clock.elapsed() - notedAt < NOTE_MS) return
          const askedAt = clock.elapsed()
          const renewed = await opened.renew(hot.ask, seen?.position ?? 0)
          if (!renewed) return settle(hot, opened, name)
          take({ kind: 'same' }, renewed, { askedAt, server: name })
          notedAt = askedAt
        },
        list: (limit) => opened.list(api.ask, limit),
        onFailover(listener) {
          listeners.add(listener)
          for (const failover of unheard) listener(failover)
          unheard = []
          return () => listeners.delete(listener)
        },
      }
    },
  }
}

interface Check {
  /** When the server was asked. */
  readonly askedAt: number
  /** Its name in messages. */
  readonly server: string
}

const nameOf = ({ system, timeline }: LogState): string => `${system}/${timeline}`

const IS_STANDBY = unprepared('select pg_is_in_recovery() as standby')

/** A standby would answer from the past, and refuse the first write. */
async function assertWritable(ask: Ask, server: string): Promise<void> {
  const [found] = await ask<{ standby: boolean }>(IS_STANDBY, [])
  if (found!.standby) throw notPrimary(`${server} is a standby server, which takes no writes`)
}

const notPrimary = (message: string): EverytickError =>
  new EverytickError('STORE_STANDBY', message, {
    hint: 'check the host in the address (--db, DATABASE_URL or store): it must lead to the primary server, or name it beside the others, as in postgres://a,b/db',
  })
