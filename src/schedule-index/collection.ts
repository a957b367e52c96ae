/** Keeps the index in step with the schedules of a user's own storage: which changes become which rows; the storage itself stays theirs. */
import { EverytickError, shown } from '../errors.ts'
import { systemClock } from '../time/clock.ts'
import { nextFireAfter } from './advance.ts'
import { readIdentity, type ScheduleIndex, type ScheduleIndexRow } from './contract.ts'

/** A schedule as the user's storage has it; other fields beside these are the user's own. */
export interface ScheduleState {
  readonly userId: string
  readonly cron: string
  readonly timezone?: string
  /** A schedule that is off has no row, and so does not fire; on when absent. */
  readonly enabled?: boolean
}

export interface ScheduleCollectionOptions {
  /** Which keys belong to the collection: `*` stands for one segment, as in `schedules/*`. */
  readonly pattern: string
  /** Without one, states are checked and nothing is mirrored. */
  readonly index?: ScheduleIndex
  /** Where "the next occurrence" starts; the machine's clock when absent. */
  readonly now?: () => number
}

/** To be called where the storage creates, updates and deletes; each answers the row it put in, or null where there is none. */
export interface ScheduleCollection {
  readonly pattern: string
  owns(key: string): boolean
  create(key: string, state: ScheduleState): Promise<ScheduleIndexRow | null>
  /** With `before`, a change that leaves owner, timing and switch alone leaves the row alone, and what is due stays due. */
  update(key: string, state: ScheduleState, before?: ScheduleState): Promise<ScheduleIndexRow | null>
  delete(key: string, state: Pick<ScheduleState, 'userId'>): Promise<void>
}

export function defineScheduleCollection({ pattern, index, now }: ScheduleCollectionOptions): ScheduleCollection {
  const belongs = readPattern(pattern)
  const clock = now ?? systemClock.now

  const own = (key: string): void => {
    if (typeof key === 'string' && belongs(key)) return
    throw new EverytickError('OPTION_INVALID', `${shown(key)} is no key of the collection "${pattern}"`)
  }

  /** Refuses before it writes, so that a state that cannot be read changes nothing. */
  const mirror = async (key: string, state: ScheduleState): Promise<ScheduleIndexRow | null> => {
    const { userId, cron, timezone, enabled = true } = state
    if (typeof enabled !== 'boolean') {
      throw new EverytickError('OPTION_INVALID', `enabled is true or false, not ${shown(enabled)}`)
    }
    const identity = readIdentity(userId, key)
    if (!enabled) {
      await index?.remove(userId, key) // whatever its cron says: a schedule that cannot be read must be possible to switch off
      return null
    }
    const timing = { ...identity, cron, ...(timezone === undefined ? {} : { timezone }) }
    const row = { ...timing, nextFireAt: nextFireAfter(timing, clock()) }
    await index?.upsert(row)
    return row
  }

  return {
    pattern,
    owns: belongs,
    async create(key, state) {
      own(key)
      return mirror(key, state)
    },
    async update(key, state, before) {
      own(key)
      if (before && isSame(before, state)) return null
      const row = await mirror(key, state)
      // Last: if this fails, the schedule fires for two owners until the next update, rather than for none.
      if (before && before.userId !== state.userId) await index?.remove(before.userId, key)
      return row
    },
    async delete(key, { userId }) {
      own(key)
      await index?.remove(userId, key)
    },
  }
}

const isSame = (a: ScheduleState, b: ScheduleState): boolean =>
  a.userId === b.userId &&
  a.cron === b.cron &&
  (a.timezone ?? 'UTC') === (b.timezone ?? 'UTC') &&
  (a.enabled ?? true) === (b.enabled ?? true)

/** Compares segment by segment, so that no pattern takes longer than its length. */
function readPattern(pattern: string): (key: string) => boolean {
  const segments = typeof pattern === 'string' ? pattern.split('/') : ['']
  if (segments.some((segment) => segment === '' || (segment.includes('*') && segment !== '*'))) {
    throw new EverytickError('OPTION_INVALID', `${shown(pattern)} is not a pattern of keys`, {
      hint: 'write it like schedules/*, where * stands for one whole segment',
    })
  }
  return (key) => {
    const given = key.split('/')
    const fits = (segment: string, at: number): boolean => (segment === '*' ? given[at] !== '' : segment === given[at])
    return given.length === segments.length && segments.every(fits)
  }
}
