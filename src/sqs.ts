/** The entry point `everytick/sqs`: runs that become messages in Amazon SQS. */
export type { Message } from './targets/message.ts'
export type { SqsClient } from './targets/sqs/client.ts'
export { type SqsOptions, type SqsResult, sqs } from './targets/sqs/sqs.ts'
