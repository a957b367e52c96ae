/** The BullMQ bridge: a job that puts each of its runs into a queue of BullMQ under the run's id, and ends when BullMQ has it, or has done it. */
import type { JobsOptions } from 'bullmq'
import type { JobContext } from '../../engine/context.ts'
import { defineJob, type Job, type PayloadInput, type WorkOptions } from '../../job.ts'
import { checkKeys, readChoice, readName } from '../../options.ts'
import type { PayloadSchema } from '../../scheduler/payload.ts'
import { messageOf } from '../message.ts'
import { addedOptions, checkOptions, type WaitFor } from './added-options.ts'
import { answered } from './answered.ts'
import { checkQueue, linkTo, type QueueAddress } from './link.ts'
import type { BullQueue } from './package.ts'
import { endOf, type Waited } from './wait.ts'

export interface BullmqOptions<Schema extends PayloadSchema | undefined = undefined, Wait extends WaitFor = WaitFor>
  extends Omit<WorkOptions, 'queue'> {
  readonly name: string
  /** The BullMQ queue: an open Queue, which the caller closes, or its name and connection. */
  readonly queue: BullQueue | QueueAddress
  /** The Everytick queue of the runs; `default` when absent. */
  readonly runQueue?: string
  /** When a run succeeds: `accepted` (default), as soon as Redis has the job, or `completed`, when a BullMQ worker has completed it. */
  readonly wait?: Wait
  /** The name of the job in BullMQ; `name` when absent. */
  readonly jobName?: string
  /** Passed on to BullMQ, such as `attempts`, `priority` or `removeOnComplete`. */
  readonly options?: JobsOptions
  /** Any Standard Schema; without one, runs have no payload. */
  readonly payload?: Schema
  /** Paths of the payload that the server hides from everyone. */
  readonly redact?: readonly string[]
}

const KEYS =
  'name queue runQueue wait jobName options payload redact priority timeout retry delivery concurrencyKey'.split(' ')

/** The queue and id of the BullMQ job. */
export interface Accepted {
  readonly queue: string
  readonly job: string
}

/** With `completed`, what the BullMQ job returned. */
export type BullmqResult<Wait extends WaitFor> = Wait extends 'completed' ? unknown : Accepted

export function bullmq<Schema extends PayloadSchema | undefined = undefined, Wait extends WaitFor = 'accepted'>(
  given: BullmqOptions<Schema, Wait>,
): Job<PayloadInput<Schema>, BullmqResult<Wait>> {
  checkKeys(given, KEYS, 'bullmq()')
  const { name, queue, runQueue, wait: waitFor = 'accepted', jobName = name, options = {}, ...work } = given
  const of = `bullmq() "${readName(name, 'the name of a job')}"`
  checkQueue(queue, of)
  const wait = readChoice(waitFor, `${of}: wait`, ['accepted', 'completed'])
  checkOptions(options, wait, of)
  const added = { jobName: readName(jobName, `${of}: jobName`), wait, options: Object.freeze({ ...options }) }
  const link = linkTo(queue)

  const execute = async (payload: unknown, ctx: JobContext): Promise<unknown> => {
    const message = messageOf(ctx, payload)
    const { run, signal } = ctx
    const add = async (queue: BullQueue): Promise<void> => {
      const { jobName, ...rest } = added
      const defaults: JobsOptions = queue.defaultJobOptions
      const adding = queue.add(jobName, message, addedOptions({ run: run.id, ...rest, defaults }))
      await answered(adding, queue.name, signal)
    }
    if (wait === 'accepted') return link.queue((queue) => add(queue).then(() => ({ queue: link.name, job: run.id })))
    const waited = (queue: BullQueue): Waited => ({
      add: () => add(queue),
      run: run.id,
      attempt: run.attempt,
      dueAt: run.dueAt.getTime(),
      queue: link.name,
      signal,
      data: message,
    })
    return link.queue((queue) => link.events((listen) => endOf(queue, listen, waited(queue))))
  }

  return defineJob<unknown, PayloadSchema | undefined>({
    ...work,
    name,
    ...(runQueue === undefined ? {} : { queue: runQueue }),
    run: (...args: unknown[]) => execute(given.payload ? args[0] : null, args.at(-1) as JobContext),
  }) as Job<PayloadInput<Schema>, BullmqResult<Wait>>
}
