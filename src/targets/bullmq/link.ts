/** Holds the connections of the bridge: a queue and its events, once for each queue however many jobs feed it, open while somebody uses them. */
import { refused } from '../../options.ts'
import { shareResource } from '../shared-resource.ts'
import { type BullEvents, type BullPlace, type BullQueue, loadBullmq } from './package.ts'

/** Answers a function that ends the listening. */
export type Listen = (id: string, wake: () => void) => () => void
type Lend<Thing> = <Result>(work: (thing: Thing) => Promise<Result>) => Promise<Result>

export interface Link {
  /** The queue's name in BullMQ. */
  readonly name: string
  readonly queue: Lend<BullQueue>
  /** Wakes whoever waits for a job when BullMQ says that it ended or was removed. That may be lost: it is only a hint. */
  readonly events: Lend<Listen>
}

export interface QueueAddress {
  readonly name: string
  /** As BullMQ takes it: options of ioredis, or a client. A client that is given is not closed. */
  readonly connection: object
  readonly prefix?: string
}

/** So that a process which has stopped its app is not kept from ending for longer. */
const IDLE_MS = 2000
const ignore = (): void => {}
const links = new WeakMap<object, Map<string, Link>>()

export const isQueue = (given: BullQueue | QueueAddress): given is BullQueue =>
  'add' in given && typeof given.add === 'function'

export function linkTo(given: BullQueue | QueueAddress): Link {
  const { name } = given
  const { connection, prefix } = isQueue(given) ? given.opts : given
  const place: BullPlace = { connection, ...(prefix === undefined ? {} : { prefix }) }
  const key = isQueue(given) ? given : given.connection
  const shared = links.get(key) ?? new Map<string, Link>()
  links.set(key, shared)
  const id = `${prefix ?? ''}:${name}`
  const link = shared.get(id) ?? {
    name,
    queue: isQueue(given) ? (work) => work(given) : sharedQueue(name, place),
    events: sharedEvents(name, place),
  }
  shared.set(id, link)
  return link
}

/** Closing fails when there was no connection to close, and nobody can do anything about it. */
const closed = (thing: { close(): Promise<void> }): Promise<void> => thing.close().catch(ignore)

/** To close, events wait for a connection first, which there may never be; so that is taken from them meanwhile. */
async function eventsClosed(events: BullEvents): Promise<void> {
  const closing = closed(events)
  await (events.getBackend?.() ?? events.connection)?.close(true).catch(ignore)
  await closing
}

const sharedQueue = (name: string, place: BullPlace): Lend<BullQueue> =>
  shareResource({
    async open() {
      const { Queue } = await loadBullmq()
      const queue = new Queue(name, place)
      // What goes wrong is told to whoever asks something of it.
      queue.on('error', ignore)
      return queue
    },
    close: closed,
    idleMs: IDLE_MS,
  })

function sharedEvents(name: string, place: BullPlace): Lend<Listen> {
  const waiting = new Map<string, Set<() => void>>()
  const tell = ({ jobId }: { readonly jobId: string }): void => {
    for (const wake of waiting.get(jobId) ?? []) wake()
  }
  const listen: Listen = (id, wake) => {
    const those = waiting.get(id) ?? new Set()
    waiting.set(id, those.add(wake))
    return () => {
      if (those.delete(wake) && those.size === 0) waiting.delete(id)
    }
  }
  const lend = shareResource({
    async open() {
      const { QueueEvents } = await loadBullmq()
      const events = new QueueEvents(name, place)
      events.on('error', ignore)
      for (const event of ['completed', 'failed', 'removed'] as const) events.on(event, tell)
      return events
    },
    close: eventsClosed,
    idleMs: IDLE_MS,
  })
  return (work) => lend(() => work(listen))
}

export function checkQueue(given: unknown, of: string): asserts given is BullQueue | QueueAddress {
  const { name, connection, prefix } = (given ?? {}) as Partial<QueueAddress>
  const hint = "pass a Queue of BullMQ, or { name: 'mail', connection: { host: 'localhost', port: 6379 } }"
  if (typeof name !== 'string' || name === '' || name.includes(':')) {
    throw refused(`${of}: queue has a name without a colon, as BullMQ asks for`, hint)
  }
  if (isQueue(given as BullQueue | QueueAddress)) return
  if (typeof connection !== 'object' || connection === null) throw refused(`${of}: queue.connection is an object`, hint)
  if (prefix !== undefined && typeof prefix !== 'string') throw refused(`${of}: queue.prefix is text`, hint)
}
