/** The SQS target: a job that sends each of its runs as a message to a queue of Amazon SQS, and ends when SQS has it. */
import type { SendMessageCommandInput, SQSClientConfig } from '@aws-sdk/client-sqs'
import type { JobContext } from '../../engine/context.ts'
import { EverytickError, shown } from '../../errors.ts'
import { defineJob, type Job, type PayloadInput, WORK_KEYS, type WorkOptions } from '../../job.ts'
import { checkKeys, readName, readText, refused } from '../../options.ts'
import type { PayloadSchema } from '../../scheduler/payload.ts'
import { messageOf } from '../message.ts'
import { type SqsClient, sender } from './client.ts'
import { refusalOf } from './refusal.ts'

export interface SqsOptions<Schema extends PayloadSchema | undefined = undefined> extends WorkOptions {
  readonly name: string
  /** Such as `https://sqs.eu-central-1.amazonaws.com/123456789012/mail`; that of a FIFO queue ends in `.fifo`. */
  readonly queueUrl: string
  /** An SQSClient, which stays the caller's, or the options of one; region and endpoint are read from the queue's address when absent. */
  readonly client?: SqsClient | SQSClientConfig
  /** For FIFO queues the schedule when absent, or the job's name for runs without one; for others none. */
  readonly groupId?: string
  /** Attributes of each message, as text. */
  readonly attributes?: Readonly<Record<string, string>>
  /** Any Standard Schema; without one there is no payload. */
  readonly payload?: Schema
  /** Parts of the payload that the server shows nobody. */
  readonly redact?: readonly string[]
}

export interface SqsResult {
  readonly messageId: string | null
  /** Only FIFO queues have it. */
  readonly sequenceNumber: string | null
}

const KEYS = ['name', 'queueUrl', 'client', 'groupId', 'attributes', 'payload', 'redact', ...WORK_KEYS]
const MAX_ATTRIBUTES = 10
const MAX_TEXT = 1024

export function sqs<Schema extends PayloadSchema | undefined = undefined>(
  given: SqsOptions<Schema>,
): Job<PayloadInput<Schema>, SqsResult> {
  checkKeys(given, KEYS, 'sqs()')
  const { name, queueUrl, client = {}, groupId, attributes = {}, ...work } = given
  const of = `sqs() "${readName(name, 'the name of a job')}"`
  const url = readUrl(queueUrl, of)
  if (typeof client !== 'object' || client === null) throw refused(`${of}: client is an SQSClient or its options`)
  const isFifo = url.pathname.endsWith('.fifo')
  const group = groupId === undefined ? null : readGroup(groupId, of)
  const message = readAttributes(attributes, of)
  const send = sender(url, client)

  const execute = async (payload: unknown, ctx: JobContext): Promise<SqsResult> => {
    const { run, schedule, signal } = ctx
    const groupOf = group ?? (isFifo ? (schedule?.id ?? groupWords(name)) : null)
    const input: SendMessageCommandInput = {
      QueueUrl: queueUrl,
      MessageBody: JSON.stringify(messageOf(ctx, payload)),
      ...(Object.keys(message).length > 0 ? { MessageAttributes: message } : {}),
      ...(isFifo ? { MessageDeduplicationId: run.id } : {}),
      ...(groupOf === null ? {} : { MessageGroupId: groupOf }),
    }
    try {
      const { MessageId, SequenceNumber } = await send(input, signal)
      return { messageId: MessageId ?? null, sequenceNumber: SequenceNumber ?? null }
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof EverytickError ? error : refusalOf(error)
    }
  }

  return defineJob<SqsResult, PayloadSchema | undefined>({
    ...work,
    name,
    run: (...args: unknown[]) => execute(given.payload ? args[0] : null, args.at(-1) as JobContext),
  }) as Job<PayloadInput<Schema>, SqsResult>
}

function readUrl(queueUrl: unknown, of: string): URL {
  const url = URL.canParse(String(queueUrl)) ? new URL(String(queueUrl)) : null
  if (typeof queueUrl === 'string' && url && /^https?:$/.test(url.protocol) && !url.username && !url.password)
    return url
  throw refused(
    `${of}: queueUrl is the address of a queue`,
    'such as https://sqs.eu-central-1.amazonaws.com/123456789012/mail',
  )
}

/** What SQS takes as the id of a group: letters, digits and marks. */
const GROUP = /^[\x21-\x7e]{1,128}$/

function readGroup(groupId: unknown, of: string): string {
  if (typeof groupId === 'string' && GROUP.test(groupId)) return groupId
  throw refused(`${of}: groupId is text of 1 to 128 letters, digits and marks, not ${shown(groupId)}`)
}

const groupWords = (name: string): string => (GROUP.test(name) ? name : 'everytick')

function readAttributes(attributes: unknown, of: string): NonNullable<SendMessageCommandInput['MessageAttributes']> {
  if (typeof attributes !== 'object' || attributes === null) throw refused(`${of}: attributes is an object of texts`)
  const entries = Object.entries(attributes)
  if (entries.length > MAX_ATTRIBUTES)
    throw refused(`${of}: SQS takes ${MAX_ATTRIBUTES} attributes, not ${entries.length}`)
  return Object.fromEntries(
    entries.map(([key, value]) => {
      const text = readText(value, `${of}: attributes.${readName(key, `${of}: an attribute`)}`, MAX_TEXT)
      if (text === '') throw refused(`${of}: attributes.${key} is empty, which SQS does not take`)
      return [key, { DataType: 'String', StringValue: text }]
    }),
  )
}
