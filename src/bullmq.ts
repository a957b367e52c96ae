/** The entry point `everytick/bullmq`: runs that BullMQ workers execute. */
export type { WaitFor } from './targets/bullmq/added-options.ts'
export { type Accepted, type BullmqOptions, type BullmqResult, bullmq } from './targets/bullmq/bullmq.ts'
export type { QueueAddress } from './targets/bullmq/link.ts'
export type { BullQueue } from './targets/bullmq/package.ts'
export type { Message } from './targets/message.ts'
