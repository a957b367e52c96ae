/** Which processes are alive and what they serve, for people to see; claims do not depend on it. */

export interface WorkerInfo {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly roles: readonly ('scheduler' | 'worker')[]
  readonly queues: Readonly<Record<string, number>>
  readonly tzdata: string
  readonly busy: number
}

export interface WorkerRow extends WorkerInfo {
  readonly startedAt: number
  readonly seenAt: number
  readonly draining: boolean
}

/** A process beats every five seconds; one that was not heard of for so long counts as gone. */
const ALIVE_MS = 20_000

export const isAlive = ({ seenAt }: Pick<WorkerRow, 'seenAt'>, now: number): boolean => now - seenAt < ALIVE_MS

export interface WorkerStore {
  /** Answers whether somebody asked it to drain: to claim nothing more, for as long as it lives. */
  reportPresence(worker: WorkerInfo): Promise<{ readonly draining: boolean }>
  /** Asks a process to claim nothing more; answers whether there is such a one. */
  drain(id: string): Promise<boolean>
  leave(id: string): Promise<void>
  list(): Promise<WorkerRow[]>
}
