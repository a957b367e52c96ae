/** The SQS target against a small endpoint that checks signatures: what is sent, to which group, and what each refusal means. */
import { SQSClient } from '@aws-sdk/client-sqs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Everytick, everytick, type Job } from '../../src/index.ts'
import { openSqlite } from '../../src/sqlite.ts'
import { type SqsOptions, sqs } from '../../src/sqs.ts'
import { until } from '../chaos/fleet.ts'
import { credentials, openSqs, region, type SqsEndpoint } from './sqs-endpoint.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const retry = { attempts: 3, backoff: 'fixed', base: '10ms' } as const
const closing: (() => Promise<unknown>)[] = []
let endpoint: SqsEndpoint

beforeEach(async () => {
  endpoint = await openSqs()
  closing.push(async () => endpoint[Symbol.asyncDispose]())
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Without the retries of the SDK, which are its own. */
const client = { region, credentials, maxAttempts: 1 }
const queueUrl = (name = 'mail'): string => `${endpoint.origin}/123456789012/${name}`
const target = (more: Partial<SqsOptions> = {}) => sqs({ name: 'mail', queueUrl: queueUrl(), client, retry, ...more })

async function appOf(job: Job): Promise<Everytick> {
  const store = await openSqlite({ path: ':memory:' })
  const app = everytick({ store, jobs: [job], logger: silent })
  closing.push(() => store.close())
  closing.push(() => app.stop({ drain: '0s' }))
  await app.start()
  return app
}

async function ended(job: ReturnType<typeof target>) {
  const app = await appOf(job)
  const { id } = await app.enqueue(job)
  return app.runs.wait(id)
}

describe('sqs()', () => {
  it('sends each occurrence as a signed message, and succeeds with its id', async () => {
    const payload = z.object({ to: z.string() })
    const attributes = { origin: 'everytick' }
    const job = sqs({ name: 'mail', queueUrl: queueUrl(), client, payload, attributes })
    const app = await appOf(job)
    await app.schedules.upsert({ key: 'often', every: '1s', job, payload: { to: 'ada ✉' } })
    const { id } = await until('it has fired', async () => (await app.runs.list({ schedule: 'often' })).at(-1))
    const run = await app.runs.wait(id)
    expect(run).toMatchObject({ state: 'succeeded', result: { messageId: 'm-1', sequenceNumber: null } })
    expect(endpoint.requests[0]).toMatchObject({
      target: 'AmazonSQS.SendMessage',
      scope: expect.stringMatching(/^AKIDEXAMPLE\/\d{8}\/eu-central-1\/sqs\/aws4_request$/),
      token: credentials.sessionToken,
    })
    const { MessageBody, ...rest } = endpoint.messages[0]!
    expect(rest).toEqual({
      QueueUrl: queueUrl(),
      MessageAttributes: { origin: { DataType: 'String', StringValue: 'everytick' } },
    })
    const scheduledAt = run.scheduledAt!.toISOString()
    expect(JSON.parse(MessageBody)).toEqual({
      run: id,
      schedule: { id: expect.any(String), key: 'often', workspace: 'default' },
      scheduledAt,
      slot: { start: expect.anything(), end: scheduledAt },
      attempt: 1,
      fence: 1,
      payload: { to: 'ada ✉' },
    })
  })

  it('lets a FIFO queue tell a retry by the id of the run, in the group of its schedule', async () => {
    const job = target({ queueUrl: queueUrl('mail.fifo') })
    const app = await appOf(job)
    endpoint.refusals.push({ status: 500, type: 'InternalFailure' })
    const { id: schedule } = await app.schedules.upsert({ key: 'often', every: '1s', job })
    const { id } = await until('it has fired', async () => (await app.runs.list({ schedule: 'often' })).at(-1))
    expect(await app.runs.wait(id)).toMatchObject({
      state: 'succeeded',
      attempt: 2,
      result: { sequenceNumber: '18849' },
    })
    expect(endpoint.messages[0]).toMatchObject({ MessageDeduplicationId: id, MessageGroupId: schedule })
  })

  it('groups by what it is told, and by its name when there is no schedule', async () => {
    await ended(target({ queueUrl: queueUrl('mail.fifo') }))
    await ended(target({ queueUrl: queueUrl('mail.fifo'), groupId: 'letters' }))
    await ended(target({ groupId: 'fair-7' }))
    expect(endpoint.messages.map(({ MessageGroupId }) => MessageGroupId)).toEqual(['mail', 'letters', 'fair-7'])
    expect(endpoint.messages[2]).not.toHaveProperty('MessageDeduplicationId')
  })

  it('uses a client that was made elsewhere as it is', async () => {
    const own = new SQSClient({ ...client, endpoint: endpoint.origin })
    closing.push(async () => own.destroy())
    expect(await ended(target({ client: own }))).toMatchObject({ state: 'succeeded' })
  })

  it.each([
    ['QueueDoesNotExist', 400, { attempt: 1, error: { code: 'SQS_REFUSED' } }],
    ['AccessDeniedException', 400, { attempt: 1, error: { code: 'SQS_REFUSED' } }],
    ['RequestThrottled', 403, { attempt: 3, error: { code: 'SQS_THROTTLED' } }],
    ['InternalFailure', 500, { attempt: 3, error: { code: 'SQS_REFUSED' } }],
  ])('fails by %s (%i) as documented, and keeps nothing that is secret', async (type, status, expected) => {
    const message = 'User: arn:aws:iam::123456789012:user/marker is not authorized'
    for (let i = 0; i < 3; i++) endpoint.refusals.push({ status, type, message })
    const run = await ended(target())
    expect(run).toMatchObject({ state: 'failed', ...expected, error: { detail: { aws: type, requestId: 'r-1' } } })
    expect(JSON.stringify(run.error)).not.toContain('marker')
  })

  it('keeps nothing of an answer that repeats the request with its token', async () => {
    const wrong = { ...client, credentials: { ...credentials, secretAccessKey: 'marker-other' } }
    const run = await ended(target({ client: wrong, retry: { attempts: 1 } }))
    expect(run).toMatchObject({ state: 'failed', error: { code: 'SQS_REFUSED', detail: { status: 403 } } })
    expect(JSON.stringify(run)).not.toContain('marker')
    expect(endpoint.messages).toEqual([])
  })

  it('does not believe an answer about another message', async () => {
    endpoint.refusals.push('wrong-md5')
    const run = await ended(target({ retry: { attempts: 1 } }))
    expect(run).toMatchObject({ state: 'failed', error: { message: expect.stringContaining('different message') } })
  })

  it('fails without an address when nobody answers', async () => {
    const job = target({ retry: { attempts: 1 } })
    await endpoint[Symbol.asyncDispose]()
    const { state, error } = await ended(job)
    expect({ state, error }).toMatchObject({ state: 'failed', error: { code: 'SQS_UNREACHABLE' } })
    expect(error!.message).not.toContain('127.0.0.1')
    closing.shift()
  })

  it('lets go of a call when its attempt takes too long', async () => {
    endpoint.refusals.push('hang')
    const run = await ended(target({ timeout: '300ms', retry: { attempts: 1 } }))
    expect(run).toMatchObject({ state: 'failed', error: { code: 'RUN_TIMEOUT' } })
  })

  it.each([
    ['no address', { queueUrl: 'mail' }],
    ['another protocol', { queueUrl: 'ftp://host/1/mail' }],
    ['a password in the address', { queueUrl: 'https://me:marker@sqs.eu-central-1.amazonaws.com/1/mail' }],
    ['a group with blanks', { groupId: 'two words' }],
    ['an attribute that is no text', { attributes: { size: 1 as unknown as string } }],
    ['an empty attribute', { attributes: { size: '' } }],
    ['too many attributes', { attributes: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`a${i}`, 'x'])) }],
    ['a client that is none', { client: 'mine' as never }],
  ])('refuses %s', (_, options) => {
    expect(() => target(options)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
    expect(() => target(options)).not.toThrow(/marker/)
  })

  it('refuses options it does not know', () => {
    expect(() => target({ queueURL: 'x' } as object)).toThrow(
      expect.objectContaining({ hint: 'did you mean queueUrl?' }),
    )
  })
})
