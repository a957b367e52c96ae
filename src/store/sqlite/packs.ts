/** Packs: many runs of one list in one row, until somebody needs them one by one; which lists are packed is for `enqueue.ts` to say, and how they are claimed for `pack-claims.ts`. */
import type { Connection } from './connection.ts'
import type { Value } from './driver.ts'
import { ask, type Step, type Steps } from './steps.ts'

/** Packs that one write unpacks where all are to be: near ten milliseconds of work. */
const AT_ONCE = 4
/** Packs that are looked through in one go: a few milliseconds. */
const PAGE_PACKS = 100
/** Runs that are packed in the time that one takes to be inserted. */
export const PACKED_IN_ONE = 8

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
/** Which of some ids lie in packs, a page of packs at a time; the packs that may have one are few, as ids are made in order. */
export const PACKED_IDS = `
  select ${ID} as id from everytick_packs p cross join json_each(p.runs) j
  where p.id in (select value from json_each(?)) and ${ID} in (select value from json_each(?))`
export const PACKS_BETWEEN = `select id from everytick_packs where last_id >= ? and first_id <= ?`
export const PACK_OF = `
  select p.id, p.count from everytick_packs p
  where p.last_id >= ? and p.first_id <= ? and exists (select 1 from json_each(p.runs) j where ${ID} = ?)`
/** All but one. Others keep their order, which a pack that is unpacked before its time would change. */
const LEAVE = `
  update everytick_packs set count = count - 1, runs = iif(payload is null,
    (select json_group_object(key, value) from json_each(runs) where key <> ?),
    (select json_group_array(value) from json_each(runs) where value <> ?))
  where id = ?`
const EACH = `select id, count from everytick_packs order by id`
export const EACH_OF = `select id, count from everytick_packs where queue = ? order by id`
export const SOME_OF = `select id, count from everytick_packs where queue = ? limit ${AT_ONCE}`

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
  rows: count / PACKED_IN_ONE,
})

export function* unpack(packs: readonly Packed[]): Steps<void> {
  for (const { id, count } of packs) {
    yield { text: UNPACK, values: [id], rows: count }
    yield { text: UNPACKED, values: [id] }
  }
}

/** Those of some ids that lie in packs; `ends` are the first and the last of them. */
export function* packedOf(ids: () => readonly string[], ends: readonly [first: string, last: string]): Steps<string[]> {
  const packs = yield* ask<{ id: number }>(PACKS_BETWEEN, ...ends)
  if (packs.length === 0) return []
  const text = JSON.stringify(ids())
  const known: string[] = []
  for (let from = 0; from < packs.length; from += PAGE_PACKS) {
    const page = JSON.stringify(packs.slice(from, from + PAGE_PACKS).map(({ id }) => id))
    const found = yield { text: PACKED_IDS, values: [page, text], rows: 300 }
    known.push(...(found as readonly unknown[] as readonly { id: string }[]).map(({ id }) => id))
  }
  return known
}

/** Takes one run out, if it lies in a pack. */
export function* takeOut(id: string): Steps<void> {
  for (const pack of yield* ask<Packed>(PACK_OF, id, id, id)) {
    yield { text: UNPACK_ONE, values: [pack.id, id], rows: pack.count }
    if (pack.count === 1) yield { text: UNPACKED, values: [pack.id] }
    else yield { text: LEAVE, values: [id, id, pack.id], rows: pack.count }
  }
}

/** A few, so that one after the other comes out. */
export function* unpackSome(queue: string): Steps<void> {
  yield* unpack(yield* ask<Packed>(SOME_OF, queue))
}

/** All that there are now, in a queue or everywhere, by writes that are short, so that others have their turn between two. */
export async function unpackAll(connection: Connection, queue?: string): Promise<void> {
  const packs = await connection.read(() =>
    queue === undefined ? connection.all<Packed>(EACH) : connection.all<Packed>(EACH_OF, queue),
  )
  for (let from = 0; from < packs.length; from += AT_ONCE) {
    const some = packs.slice(from, from + AT_ONCE)
    const rows = some.reduce((sum, { count }) => sum + count, 0)
    await connection.writeSteps(() => unpack(some), rows)
  }
}
