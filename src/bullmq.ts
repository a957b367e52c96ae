/** The door `everytick/bullmq`: runs that are executed by workers of BullMQ. */
export type { WaitFor } from './targets/bullmq/added-options.ts'
export { type Accepted, type BullmqOptions, type BullmqResult, bullmq } from './targets/bullmq/bullmq.ts'
export type { QueueAddress } from './targets/bullmq/link.ts'
export type { BullQueue } from './targets/bullmq/package.ts'
export type { Message } from './targets/message.ts'
