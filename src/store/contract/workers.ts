/** Which processes are alive and what they serve, for people to see; grants do not depend on it. */

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
}

export interface WorkerStore {
  beat(worker: WorkerInfo): Promise<void>
  leave(id: string): Promise<void>
  list(): Promise<WorkerRow[]>
}
