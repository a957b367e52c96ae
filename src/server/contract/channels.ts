/** Channels over HTTP: where notifications go. Responses never contain their secrets. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { ById, component, Id, IdBeginning, Instant, Name, PAGE, pageOf, StoredName } from './vocabulary.ts'

const shared = { resource: 'channels', reach: 'workspace', scope: 'admin' } as const

const Url = z.string().min(1).max(2000)
const Email = {
  host: Name,
  port: z.int().min(1).max(65_535).optional(),
  secure: z.boolean().optional(),
  user: Name.nullish(),
  password: z.string().min(1).max(500).nullish(),
  from: Name,
  to: z.array(Name).min(1).max(50),
}
const Config = component(
  'ChannelConfig',
  z.discriminatedUnion('kind', [
    /** Signed as Standard Webhooks; the secret is `whsec_` and 24 to 64 bytes in base64. */
    z.strictObject({ kind: z.literal('webhook'), url: Url, secret: z.string().min(1).max(200) }),
    z.strictObject({ kind: z.literal('slack'), url: Url }),
    z.strictObject({ kind: z.literal('email'), ...Email }),
    z.strictObject({ kind: z.literal('log') }),
  ]),
)
const ConfigChanges = component(
  'ChannelConfigChanges',
  z.strictObject({
    kind: z.enum(['webhook', 'slack', 'email', 'log']).optional(),
    url: Url.optional(),
    secret: z.string().min(1).max(200).optional(),
    ...z.strictObject(Email).partial().shape,
  }),
)

export const ChannelBody = component(
  'Channel',
  z.object({
    id: Id,
    name: z.string(),
    /** The workspace whose alerts the channel receives; null: all workspaces. */
    workspace: z.string().nullable(),
    enabled: z.boolean(),
    /** For a secret, only whether it is set. */
    config: z.looseObject({ kind: z.string() }),
    createdAt: Instant,
    updatedAt: Instant,
  }),
)
const One = { description: 'The channel as it is now, without its secrets.', schema: ChannelBody }
const Tagged = { ...One, headers: ['ETag'] }
const byId = { ...shared, params: ById } as const

export const listChannels = operation({
  ...shared,
  id: 'listChannels',
  method: 'get',
  path: '/channels',
  summary: 'List channels, newest first, without their secrets.',
  query: z.strictObject({
    /** An id, or the beginning of one. */
    id: IdBeginning.optional(),
    name: StoredName.optional(),
    workspace: StoredName.optional(),
    ...PAGE,
  }),
  answers: { 200: { description: 'A page of channels.', schema: pageOf(ChannelBody) } },
  refusals: ['CURSOR_INVALID'],
})

export const createChannel = operation({
  ...shared,
  id: 'createChannel',
  method: 'post',
  path: '/channels',
  summary: 'Add a channel. Responses never contain its secrets.',
  action: 'channel.create',
  recovery: 'repeat',
  body: z.strictObject({ name: Name, workspace: Name.optional(), enabled: z.boolean().optional(), config: Config }),
  answers: { 201: { ...One, headers: ['Location'] } },
  refusals: ['QUOTA_REACHED'],
})

export const getChannel = operation({
  ...byId,
  id: 'getChannel',
  method: 'get',
  path: '/channels/{id}',
  summary: 'Get a channel, without its secrets.',
  answers: { 200: Tagged },
  refusals: ['NOT_FOUND', 'PRECONDITION_FAILED'],
})

export const patchChannel = operation({
  ...byId,
  id: 'patchChannel',
  method: 'patch',
  path: '/channels/{id}',
  summary: 'Change a channel. Secrets that are left out stay unchanged.',
  action: 'channel.edit',
  body: z.strictObject({ name: Name.optional(), enabled: z.boolean().optional(), config: ConfigChanges.optional() }),
  answers: { 200: Tagged },
  refusals: ['NOT_FOUND', 'PRECONDITION_FAILED'],
})

export const deleteChannel = operation({
  ...byId,
  id: 'deleteChannel',
  method: 'delete',
  path: '/channels/{id}',
  summary:
    'Remove a channel. Fails while an alert rule uses it, because the alerts of that rule would reach no channel.',
  action: 'channel.delete',
  answers: { 204: { description: 'Removed.' } },
  refusals: ['NOT_FOUND', 'NOT_ACCEPTABLE_STATE'],
})

export const testChannel = operation({
  ...byId,
  id: 'testChannel',
  method: 'post',
  path: '/channels/{id}/test',
  summary: 'Send a test message now and return the result.',
  action: 'channel.test',
  recovery: { look: 'check whether the message arrived' },
  answers: {
    200: {
      description: 'Whether the receiver accepted the message, and the error if not.',
      schema: z.object({ delivered: z.boolean(), error: z.string().nullable() }),
    },
  },
  refusals: ['NOT_FOUND'],
})
