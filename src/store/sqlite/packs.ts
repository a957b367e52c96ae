/** Packs: many runs of one list in one row, until somebody needs them one by one; which lists are packed is for `enqueue.ts` to say, and how they are claimed for `pack-claims.ts`. */
import type { Connection } from './connection.ts'
import type { Value } from './driver.ts'
import { ask, type Step, type Steps } from './steps.ts'

/** Packs that one write unpacks where all are to be: near ten milliseconds of work. */
const AT_ONCE = 4

// A pack is a list of ids when its runs have the same payload, and otherwise has of each its own.
export const ID = `iif(p.payload is null, j.key, j.value)`
export const PAYLOAD = `coalesce(p.payload, j.value)`
/** Packed runs as if they were rows, of those packs that may have one. */
export const PACKED_RUNS = `
  select ${ID} as id, p.workspace, p.job, p.queue, 'pending' as state, p.trigger, p.priority, null as schedule_id,
    null as schedule_key, null as schedule_revision, null as scheduled_at, null as slot_start_at, p.due_at, null as lane,
    'allow' as overlap, 'open' as gate, p.created_at, ${PAYLOAD} as payload, p.policy, 0 as attempt, 0 as fence,
    null as worker_id, null as lease_until, null as started_at, 0 as cancel_requested, null as idempotency_key, null as error,
    null as progress
  from everytick_packs p cross join json_each(p.runs) j where p.last_id >= ? and p.first_id <= ?`
const PACK = `
  insert into everytick_packs (workspace, job, queue, trigger, priority, due_at, created_at, policy, payload,
    first_id, last_id, count, runs)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const unpacking = (which: string): string => `
  insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at, policy, payload)
  select ${ID}, p.workspace, p.job, p.queue, 'pending', p.trigger, p.priority, p.due_at, p.created_at, p.policy, ${PAYLOAD}
  from everytick_packs p cross join json_each(p.runs) j where p.id = ? ${which}`
export const UNPACK = unpacking('')
const UNPACK_ONE = unpacking(`and ${ID} = ?`)
export const UNPACKED = `delete from everytick_packs where id = ?`
export const RUNS_BETWEEN = `select runs from everytick_packs where last_id >= ? and first_id <= ?`
/** Where a run would be: the packs that may have it are few, as ids are made in order. */
export const PACK_OF = `
  select p.id, p.count from everytick_packs p
  where p.last_id >= ? and p.first_id <= ? and exists (select 1 from json_each(p.runs) j where ${ID} = ?)`
/** All but one. Others keep their order, which a pack that is unpacked before its time would change. */
const LEAVE = `
  update everytick_packs set count = count - 1, runs = iif(payload is null,
    (select json_group_object(key, value) from json_each(runs) where key <> ?),
    (select json_group_array(value) from json_each(runs) where value <> ?))
  where id = ?`
export const OLDEST = `select id, count from everytick_packs where id <= ? order by id limit ${AT_ONCE}`
export const OLDEST_OF = `select id, count from everytick_packs where queue = ? order by due_at, id limit ${AT_ONCE}`
const NEWEST = `select max(id) as id from everytick_packs`

export interface Pack {
  /** Workspace, job, queue, trigger, priority, due and created at, policy, and the payload unless each has its own. */
  readonly common: readonly Value[]
  readonly ends: readonly [first: string, last: string]
  readonly count: number
  /** A list of ids, or of ids with their payloads as `pairsText` writes them. */
  readonly runs: string
}

export interface Packed {
  readonly id: number
  readonly count: number
}

export const pack = ({ common, ends, count, runs }: Pack): Step => ({
  text: PACK,
  values: [...common, ...ends, count, runs],
})

export function* unpack(packs: readonly Packed[]): Steps<void> {
  for (const { id, count } of packs) {
    yield { text: UNPACK, values: [id], rows: count }
    yield { text: UNPACKED, values: [id] }
  }
}

/** The ids in packs, of all that there are between two. */
export function* packedBetween(first: string, last: string): Steps<string[]> {
  const packs = yield* ask<{ runs: string }>(RUNS_BETWEEN, first, last)
  return packs.flatMap(({ runs }) => idsIn(JSON.parse(runs) as string[] | object))
}

export const idsIn = (runs: string[] | object): string[] => (Array.isArray(runs) ? runs : Object.keys(runs))

/** Takes one run out, if it lies in a pack. */
export function* takeOut(id: string): Steps<void> {
  for (const pack of yield* ask<Packed>(PACK_OF, id, id, id)) {
    yield { text: UNPACK_ONE, values: [pack.id, id] }
    if (pack.count === 1) yield { text: UNPACKED, values: [pack.id] }
    else yield { text: LEAVE, values: [id, id, pack.id] }
  }
}

/** All that there were when it was called: what is packed meanwhile could go on for ever. */
export async function unpackAll(connection: Connection): Promise<void> {
  const [newest] = await connection.read(() => connection.all<{ id: number | null }>(NEWEST))
  if (newest?.id == null) return
  await unpackWhile(connection, () => ask<Packed>(OLDEST, newest.id))
}

export const unpackQueue = (connection: Connection, queue: string): Promise<void> =>
  unpackWhile(connection, () => ask<Packed>(OLDEST_OF, queue))

/** In writes that are short, so that others have their turn between two. */
async function unpackWhile(connection: Connection, next: () => Steps<readonly Packed[]>): Promise<void> {
  function* some(): Steps<boolean> {
    const packs = yield* next()
    yield* unpack(packs)
    return packs.length === AT_ONCE
  }
  while (await connection.writeSteps(some, AT_ONCE * 300));
}
