/** `everytick queues` and `everytick workers`: lists and limits queues, lists and drains worker processes. */
import { answer, type JsonOption } from '../answer.ts'
import { type Backend, type BackendOptions, segment } from '../backend.ts'
import { type ChangeOptions, change } from '../change.ts'
import { findAmong } from '../find-id.ts'
import { type Io, withBackend } from '../io.ts'
import { WORKERS } from '../kinds.ts'
import { rowsText } from '../print.ts'
import { UsageError } from '../usage-error.ts'

export type FleetOptions = ChangeOptions

export interface QueuePauseOptions extends FleetOptions {
  readonly reason?: string
}

export interface QueueLimitOptions extends FleetOptions {
  readonly globalConcurrency?: string
  readonly perWorkspace?: string
  readonly rate?: string
}

interface Limits {
  readonly globalConcurrency: number | null
  readonly perWorkspace: number | null
  readonly rateLimit: { readonly limit: number; readonly per: string } | null
}
interface Queue extends Limits {
  readonly name: string
  readonly paused: { readonly reason: string; readonly by: string; readonly at: string } | null
  readonly ready: number
  readonly running: number
  readonly oldestDueAt: string | null
}
interface Worker {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly roles: readonly string[]
  readonly queues: Readonly<Record<string, number>>
  readonly tzdata: string
  readonly busy: number
  readonly startedAt: string
  readonly seenAt: string
  readonly alive: boolean
  readonly draining: boolean
}

const countText = (count: number | null): string => (count === null ? '-' : String(count))
const rateText = (rate: Limits['rateLimit']): string => (rate === null ? '-' : `${rate.limit}/${rate.per}`)
const limitsText = ({ globalConcurrency, perWorkspace, rateLimit }: Limits): string =>
  `global concurrency ${countText(globalConcurrency)}, per workspace ${countText(perWorkspace)}, rate ${rateText(rateLimit)}`

const dataOf = async <Item>(backend: Backend, path: string): Promise<readonly Item[]> =>
  (await backend.ask<{ readonly data: readonly Item[] }>('GET', path)).data

export function listQueues(options: BackendOptions & JsonOption, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    await answer(await dataOf<Queue>(backend, '/queues'), { ...options, io }, (queues, view) => {
      const heading = ['NAME', 'READY', 'RUNNING', 'OLDEST DUE', 'LIMIT', 'PER WORKSPACE', 'RATE', 'STATE']
      const rows = queues.map((queue) => [
        ...[queue.name, String(queue.ready), String(queue.running), queue.oldestDueAt ?? '-'],
        ...[countText(queue.globalConcurrency), countText(queue.perWorkspace), rateText(queue.rateLimit)],
        queue.paused === null ? 'open' : pausedText(queue.paused),
      ])
      return rowsText(heading, rows, view)
    })
  })
}

const pausedText = ({ by, reason }: NonNullable<Queue['paused']>): string =>
  `paused by ${by}${reason === '' ? '' : `: ${reason}`}`

export function pauseQueue(name: string, options: QueuePauseOptions, io: Io): Promise<void> {
  const { reason } = options
  const wanted = { method: 'POST', path: `/queues/${segment(name)}/pause`, words: `pause queue ${name}` } as const
  const body = reason === undefined ? {} : { reason }
  return withBackend(options, (backend) =>
    change<Queue>(backend, { ...wanted, body, said: () => `paused queue ${name}` }, { ...options, io }),
  )
}

export function resumeQueue(name: string, options: FleetOptions, io: Io): Promise<void> {
  const wanted = { method: 'POST', path: `/queues/${segment(name)}/resume`, words: `resume queue ${name}` } as const
  const said = ({ resumed }: { readonly resumed: boolean }): string =>
    resumed ? `resumed queue ${name}` : `queue ${name} was not paused`
  return withBackend(options, (backend) => change(backend, { ...wanted, said }, { ...options, io }))
}

/** Sends the unchanged limits again, because the server replaces all limits at once. */
export function limitQueue(name: string, options: QueueLimitOptions, io: Io): Promise<void> {
  const named = readLimits(options)
  return withBackend(options, async (backend) => {
    const before = (await dataOf<Queue>(backend, '/queues')).find((queue) => queue.name === name) ?? NO_LIMITS
    const { globalConcurrency, perWorkspace, rateLimit } = { ...before, ...named }
    const limits = { globalConcurrency, perWorkspace, rateLimit }
    const body = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null))
    const words = `limit queue ${name}: ${limitsText(limits)} (now: ${limitsText(before)})`
    const said = (queue: Queue | null): string => `queue ${name}: ${limitsText(queue ?? NO_LIMITS)}`
    const path = `/queues/${segment(name)}/limits`
    await change(backend, { method: 'PUT', path, body, words, said }, { ...options, io })
  })
}

const NO_LIMITS: Limits = { globalConcurrency: null, perWorkspace: null, rateLimit: null }

/** The limits given as options; `none` removes a limit. */
export function readLimits({ globalConcurrency, perWorkspace, rate }: QueueLimitOptions): Partial<Limits> {
  if (globalConcurrency === undefined && perWorkspace === undefined && rate === undefined)
    throw new UsageError('no limit given', { hint: 'pass --global-concurrency, --per-workspace or --rate' })
  return {
    ...(globalConcurrency === undefined
      ? {}
      : { globalConcurrency: limitOf(globalConcurrency, '--global-concurrency') }),
    ...(perWorkspace === undefined ? {} : { perWorkspace: limitOf(perWorkspace, '--per-workspace') }),
    ...(rate === undefined ? {} : { rateLimit: rateOf(rate) }),
  }
}

function limitOf(text: string, option: string): number | null {
  if (text === 'none') return null
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new UsageError(`${option} takes a whole number of at least 1, or none, not ${text}`, { code: 'OPTION_INVALID' })
}

function rateOf(text: string): Limits['rateLimit'] {
  if (text === 'none') return null
  const [, limit, per] = /^([1-9]\d{0,6})\/(\w+)$/.exec(text) ?? []
  if (limit !== undefined && per !== undefined) return { limit: Number(limit), per }
  throw new UsageError(`--rate takes a value such as 100/1m, or none, not ${text}`, { code: 'OPTION_INVALID' })
}

export function listWorkers(options: BackendOptions & JsonOption, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    await answer(await dataOf<Worker>(backend, '/workers'), { ...options, io }, (workers, view) => {
      const heading = ['ID', 'HOST', 'PID', 'ROLES', 'QUEUES', 'BUSY', 'SEEN', 'STATE']
      const rows = workers.map((worker) => [
        ...[worker.id, worker.host, String(worker.pid), worker.roles.join('+'), queuesText(worker.queues)],
        ...[String(worker.busy), worker.seenAt, stateOf(worker)],
      ])
      return rowsText(heading, rows, view)
    })
  })
}

const queuesText = (queues: Worker['queues']): string =>
  Object.entries(queues)
    .map(([name, slots]) => `${name}×${slots}`)
    .join(' ') || '-'

const stateOf = ({ alive, draining }: Worker): string => (!alive ? 'gone' : draining ? 'draining' : 'alive')

export function drainWorker(text: string, options: FleetOptions, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    const id = findAmong(await dataOf<Worker>(backend, '/workers'), WORKERS, text)
    const path = `/workers/${segment(id)}/drain`
    const said = (): string => `draining ${id}: it claims no more runs, and its running runs continue`
    await change(backend, { method: 'POST', path, words: `drain worker ${id}`, said }, { ...options, io })
  })
}
