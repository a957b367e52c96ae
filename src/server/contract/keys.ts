/** API keys over HTTP: create, list, revoke, roll. A token is shown only once. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { SCOPES } from '../scope.ts'
import {
  ById,
  component,
  DurationText,
  Id,
  IdBeginning,
  Instant,
  Name,
  PAGE,
  pageOf,
  StoredName,
} from './vocabulary.ts'

const resource = 'api-keys'
const fleet = { resource, scope: 'admin', reach: 'fleet' } as const

export const KeyBody = component(
  'ApiKey',
  z.object({
    id: Id,
    name: z.string(),
    scope: z.enum(SCOPES),
    workspace: z.string().nullable(),
    prefix: z.string(),
    createdAt: Instant,
    createdBy: z.string(),
    expiresAt: Instant.nullable(),
    lastUsedAt: Instant.nullable(),
    revokedAt: Instant.nullable(),
  }),
)
const WithToken = component(
  'NewApiKey',
  KeyBody.extend({
    /** Null in a replayed response, because the server does not store tokens. */
    token: z.string().nullable(),
  }),
)
const shownOnce = { description: 'The key; its token is never shown again.', schema: WithToken, headers: ['Location'] }

export const listKeys = operation({
  ...fleet,
  id: 'listKeys',
  method: 'get',
  path: '/api-keys',
  summary: 'List API keys, newest first, without their secrets.',
  query: z.strictObject({
    /** An id, or the beginning of one. */
    id: IdBeginning.optional(),
    name: StoredName.optional(),
    ...PAGE,
  }),
  answers: { 200: { description: 'A page of keys.', schema: pageOf(KeyBody) } },
  refusals: ['CURSOR_INVALID'],
})

export const createKey = operation({
  ...fleet,
  id: 'createKey',
  method: 'post',
  path: '/api-keys',
  summary: 'Create an API key. Its token appears only in this response.',
  action: 'key.create',
  recovery: 'repeat',
  body: z.strictObject({
    name: Name,
    scope: z.enum(SCOPES),
    workspace: Name.optional(),
    expiresIn: DurationText.optional(),
  }),
  answers: { 201: shownOnce },
})

export const getKey = operation({
  ...fleet,
  id: 'getKey',
  method: 'get',
  path: '/api-keys/{id}',
  summary: 'Get an API key, without its secret.',
  params: ById,
  answers: { 200: { description: 'The key.', schema: KeyBody } },
  refusals: ['NOT_FOUND'],
})

export const revokeKey = operation({
  ...fleet,
  id: 'revokeKey',
  method: 'delete',
  path: '/api-keys/{id}',
  summary: 'Revoke an API key; every node refuses it within a second.',
  action: 'key.revoke',
  params: ById,
  answers: { 204: { description: 'It is revoked.' } },
  refusals: ['NOT_FOUND'],
})

export const rollKey = operation({
  ...fleet,
  id: 'rollKey',
  method: 'post',
  path: '/api-keys/{id}/roll',
  summary: 'Create a new key with the same name, scope and workspace, and revoke this one.',
  action: 'key.roll',
  recovery: 'repeat',
  params: ById,
  body: z.strictObject({ expiresIn: DurationText.optional() }),
  answers: { 201: shownOnce },
  refusals: ['NOT_FOUND', 'NOT_ACCEPTABLE_STATE'],
})
