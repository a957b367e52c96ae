/** Schedules of a batch as lists for the server: what each has of its own, and once what many of them share; what is done with them is `put-statements.ts`. */
import { toJsonText } from '../../json.ts'
import type { TimingSpec } from '../../schedule/schedule.ts'
import type { PutSchedule } from '../contract/schedules.ts'
import { uuids } from './bytes.ts'
import { kindsOf, kindValues, longListOf, rememberedTexts } from './common-columns.ts'
import { instantAt } from './rows.ts'
import { plain, texts, type Value } from './statement.ts'

/** With its place in the call, by which its answer finds back. */
export interface Numbered {
  readonly n: number
  readonly put: PutSchedule
}

/** What schedules of one batch mostly share, beside their timing, in the order of the lists that carry it. */
const SHARED = {
  ...{ job: 'text', queue: 'text', priority: 'smallint', description: 'text', source: 'text' },
  ...{ policy: 'json', catch_up: 'json', firing: 'json', tags: 'jsonb', metadata: 'jsonb' },
}
const KIND = { kind: 'int', ...SHARED, by: 'text', seen: 'int' }
/** Apart from the kinds: a thousand timings would otherwise make a thousand kinds, of which each is read whole. */
const TIMED = { timed: 'int', timing: 'json', watermark_ms: 'float8' }
const OWN = {
  ...{ workspace: 'text', key: 'text', n: 'int', id: 'uuid' },
  ...{ timed: 'int', kind: 'int', next_ms: 'float8', payload: 'jsonb' },
}
const COMMON = ['timing', ...Object.keys(SHARED)]
/** The columns that make up a definition, beside its name. */
export const PARTS = [...COMMON, 'payload']
/** Those of them that are kept as text. */
export const TEXTS = ['timing', 'policy', 'catch_up', 'firing']

/** Ids as bytes only on connections of our own. */
export type IdsAs = 'text' | 'bytes'

export function putValues(list: readonly Numbered[], idsAs: IdsAs = 'text'): Value[] {
  const text = rememberedTexts('definition')
  const timed = timingsOf(list)
  const ids = list.map(({ put }) => put.id)
  const valuesOf = ({ put: { definition, by, from } }: Numbered): Value[] => {
    const { job, queue, priority, description, source, policy, catchUp, firing, tags, metadata } = definition
    return [job, queue, priority, description, source, ...[policy, catchUp, firing, tags, metadata].map(text), by, from]
  }
  const { kinds, kindOf } = kindsOf(list, valuesOf, uniform)
  return [
    ...keyValues(list),
    plain(list.map(({ n }) => n)),
    idsAs === 'text' ? plain(ids) : uuids(ids),
    plain(timed.places),
    plain(kindOf),
    plain(list.map(({ put }) => put.nextAt)),
    texts(list.map(({ put: { definition } }) => payloadText(definition.payload))),
    plain(timed.texts.map((_, place) => place)),
    texts(timed.texts),
    plain(timed.watermarks),
    ...kindValues(kinds),
  ]
}

export const keyValues = (list: readonly Numbered[]): Value[] => [
  texts(list.map(({ put }) => put.definition.workspace)),
  texts(list.map(({ put }) => put.definition.key)),
]

/** Most schedules have none, and nothing is the cheapest to read. */
const payloadText = (payload: unknown): string | null =>
  payload === null ? null : toJsonText(payload, { what: 'payload' })

/** Whether both are of one kind, at a glance: what is the same in other words is found by its text. */
function uniform({ put: a }: Numbered, { put: b }: Numbered): boolean {
  const [one, other] = [a.definition, b.definition]
  return (
    one.job === other.job &&
    one.queue === other.queue &&
    one.priority === other.priority &&
    one.policy === other.policy &&
    one.catchUp === other.catchUp &&
    one.firing === other.firing &&
    one.tags === other.tags &&
    one.metadata === other.metadata &&
    one.description === other.description &&
    one.source === other.source &&
    a.by === b.by &&
    a.from === b.from
  )
}

/** Each timing once, with where its occurrences begin, and for each schedule which of them it has. */
function timingsOf(list: readonly Numbered[]): { places: number[]; texts: string[]; watermarks: number[] } {
  const found = { places: [] as number[], texts: [] as string[], watermarks: [] as number[] }
  const known = new Map<TimingSpec, number>()
  const named = new Map<string, number>()
  for (const { put } of list) {
    const { watermarkAt, definition } = put
    let place = known.get(definition.timing)
    if (place === undefined || found.watermarks[place] !== watermarkAt) {
      const text = toJsonText(definition.timing, { what: 'definition' })
      const name = `${watermarkAt} ${text}`
      place = named.get(name) ?? found.texts.push(text) - 1
      found.watermarks[place] = watermarkAt
      named.set(name, place)
      known.set(definition.timing, place)
    }
    found.places.push(place)
  }
  return found
}

const AFTER_OWN = 1 + Object.keys(OWN).length
const AFTER_TIMED = AFTER_OWN + Object.keys(TIMED).length

/** SQL for the table `given`: the schedules of the batch. */
export const givenWith = (idsAs: IdsAs): string => `
given as materialized (
  select workspace, key, n, id, ${COMMON.join(', ')}, coalesce(payload, 'null') as payload, by, seen,
    ${instantAt('next_ms')} as next_at, ${instantAt('watermark_ms')} as watermark_at
  from ${longListOf('own', OWN, { bytes: idsAs === 'bytes' ? 'id' : null })}
  join ${longListOf('timings', TIMED, { first: AFTER_OWN })} using (timed)
  join ${longListOf('kinds', KIND, { first: AFTER_TIMED })} using (kind)
)`
