/** Mirrors the schedules of a user's own storage into an index: which change writes which row. The storage stays the source of truth. */
import { EverytickError, shown } from '../errors.ts'
import { logMessage } from '../printable.ts'
import { systemClock } from '../time/clock.ts'
import { nextFireAfter } from './advance.ts'
import { readIdentity, type ScheduleIndex, type ScheduleIndexRow, type WarningLog } from './contract.ts'
import { type KeyPattern, readPattern } from './key-pattern.ts'

/** A schedule as the user's storage has it; other fields beside these are the user's own. */
export interface ScheduleState {
  readonly userId: string
  readonly cron: string
  readonly timezone?: string
  /** A schedule with `enabled: false` has no row in the index, so it does not fire; true when absent. */
  readonly enabled?: boolean
}

export interface ScheduleCollectionOptions {
  /** Which keys belong to the collection: `*` stands for one segment, as in `schedules/*`. Rows carry the key without what is before the first `*`. */
  readonly pattern: string
  /** Without one, the collection computes rows and mirrors nothing, and it has no hooks. */
  readonly index?: ScheduleIndex
  /** The instant after which the next occurrence is computed; the machine's clock when absent. */
  readonly now?: () => number
  /** Receives a warning for each schedule that cannot be mirrored; `console` when absent. */
  readonly log?: WarningLog
}

/** The scope in which a storage framework runs a hook; `scopeId` becomes the row's `userId`. */
export interface ScheduleHookContext {
  readonly scopeId: string
}

/** The stored state as a storage framework hands it to a hook: fields are checked when the hook runs. */
type StoredState = Readonly<Record<string, unknown>>

/** Lifecycle hooks for a storage framework that reports each committed write of an instance. */
export interface ScheduleHooks {
  onInstanceCreated(key: string, state: StoredState, context: ScheduleHookContext): Promise<void>
  onInstanceUpdated(
    key: string,
    state: StoredState,
    previous: StoredState | undefined,
    context: ScheduleHookContext,
  ): Promise<void>
  onInstanceDeleted(key: string, context: ScheduleHookContext): Promise<void>
}

/** Call the verbs where your storage creates, updates and deletes. Each returns the row it wrote, or null if it wrote none. */
export interface ScheduleCollection extends Partial<ScheduleHooks> {
  readonly pattern: string
  /** Every schedule belongs to one user. */
  readonly scope: 'user'
  owns(key: string): boolean
  create(key: string, state: ScheduleState): Promise<ScheduleIndexRow | null>
  /** With `before`, a change that leaves user, timing and switch alone leaves the row alone, and what is due stays due. */
  update(key: string, state: ScheduleState, before?: ScheduleState): Promise<ScheduleIndexRow | null>
  delete(key: string, state: Pick<ScheduleState, 'userId'>): Promise<void>
}

export function defineScheduleCollection(options: ScheduleCollectionOptions): ScheduleCollection {
  const { index } = options
  const pattern = readPattern(options.pattern)
  const mirror = mirrorInto(options, pattern)

  const checkKey = (key: string): void => {
    if (typeof key === 'string' && pattern.matches(key)) return
    throw new EverytickError(
      'OPTION_INVALID',
      `the key ${shown(key)} does not match the collection pattern "${options.pattern}"`,
    )
  }

  const hooks: ScheduleHooks = {
    async onInstanceCreated(key, state, { scopeId }) {
      await mirror.put(key, { ...state, userId: scopeId } as ScheduleState & StoredState)
    },
    async onInstanceUpdated(key, state, previous, { scopeId }) {
      const before = previous && ({ ...previous, userId: scopeId } as ScheduleState & StoredState)
      await mirror.change(key, { ...state, userId: scopeId } as ScheduleState & StoredState, before)
    },
    onInstanceDeleted: (key, { scopeId }) => mirror.remove(scopeId, key),
  }

  return {
    pattern: options.pattern,
    scope: 'user',
    owns: pattern.matches,
    async create(key, state) {
      checkKey(key)
      return mirror.put(key, state)
    },
    async update(key, state, before) {
      checkKey(key)
      return mirror.change(key, state, before)
    },
    async delete(key, { userId }) {
      checkKey(key)
      await mirror.remove(userId, key)
    },
    ...(index && hooks),
  }
}

interface Mirror {
  put(key: string, state: ScheduleState): Promise<ScheduleIndexRow | null>
  change(key: string, state: ScheduleState, before: ScheduleState | undefined): Promise<ScheduleIndexRow | null>
  remove(userId: string, key: string): Promise<void>
}

function mirrorInto(
  { index, now = systemClock.now, log = console }: ScheduleCollectionOptions,
  pattern: KeyPattern,
): Mirror {
  const remove = async (userId: string, key: string): Promise<void> => {
    await index?.remove(userId, pattern.relative(key))
  }

  const put = async (storageKey: string, state: ScheduleState): Promise<ScheduleIndexRow | null> => {
    const { userId, cron, timezone, enabled = true } = state
    const identity = readIdentity(userId, pattern.relative(storageKey))
    if (typeof enabled !== 'boolean') {
      throw new EverytickError('OPTION_INVALID', `enabled must be true or false, not ${shown(enabled)}`)
    }
    const timing = { ...identity, cron, ...(timezone === undefined ? {} : { timezone }) }
    const nextFireAt = enabled ? readNextFire(timing) : null
    if (nextFireAt === null) {
      // The row of the earlier definition must not go on firing.
      await index?.remove(userId, identity.key)
      return null
    }
    const row = { ...timing, nextFireAt }
    await index?.upsert(row)
    return row
  }

  /** Null, with a warning, for a timing that cannot be read: the user's storage has accepted the write already. */
  const readNextFire = (timing: Parameters<typeof nextFireAfter>[0]): number | null => {
    try {
      return nextFireAfter(timing, now())
    } catch (error) {
      if (!(error instanceof EverytickError)) throw error
      const { userId, key } = timing
      const message = `schedule_index: "${key}" of user "${userId}" is not mirrored and does not fire: ${error.message}`
      log.warn(logMessage(message))
      return null
    }
  }

  return {
    put,
    remove,
    async change(key, state, before) {
      if (before && isSame(before, state)) return null
      const row = await put(key, state)
      // Last: if this fails, the schedule fires for two users until the next update, rather than for none.
      if (before && before.userId !== state.userId) await remove(before.userId, key)
      return row
    },
  }
}

const isSame = (a: ScheduleState, b: ScheduleState): boolean =>
  a.userId === b.userId &&
  a.cron === b.cron &&
  (a.timezone ?? 'UTC') === (b.timezone ?? 'UTC') &&
  (a.enabled ?? true) === (b.enabled ?? true)
