/** What the generic HTTP job is told by its payload: where to call, how, and with what; checked when a schedule is made, and again when it runs. */
import { EverytickError, shown } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { checkKeys, readBoolean, readChoice, readName, refused } from '../../options.ts'
import type { PayloadSchema } from '../../scheduler/payload.ts'
import type { Guard } from '../guard/guard.ts'
import { checkHeaderOptions, type HeaderOptions } from './http-headers.ts'

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type HttpMethod = (typeof METHODS)[number]

/** Those that are sent with a body; the others only ask, or name the thing in their address. */
export const hasBody = (method: HttpMethod): boolean => method === 'POST' || method === 'PUT' || method === 'PATCH'

/** The payload of the generic HTTP job. */
export interface HttpCall {
  readonly url: string
  /** `POST` when absent. */
  readonly method?: HttpMethod
  /** Values are text, or the name of a secret that the worker knows. */
  readonly headers?: HeaderOptions
  /** The name of the secret that the call is signed with. */
  readonly secret?: string
  /** Sent as `payload`. */
  readonly body?: Json
  /** Whether the body is wrapped in the facts of the run; true when absent. */
  readonly envelope?: boolean
}

/** Values of headers may be secrets, and whoever typed them knows them. */
export const REDACTED_PATHS = ['headers.*']

export const httpCallSchema = (guard: Guard): PayloadSchema<HttpCall> => {
  const standard = {
    version: 1 as const,
    vendor: 'everytick',
    validate(value: unknown) {
      try {
        checkCall(value, guard)
        return { value: value as HttpCall }
      } catch (error) {
        if (!(error instanceof EverytickError)) throw error
        return { issues: [{ message: error.hint === undefined ? error.message : `${error.message} (${error.hint})` }] }
      }
    },
    // Asked for by forms.
    jsonSchema: { input: () => JSON_SCHEMA },
  }
  return { '~standard': standard }
}

function checkCall(value: unknown, guard: Guard): void {
  checkKeys(value, ['url', 'method', 'headers', 'secret', 'body', 'envelope'], 'a call')
  const { url, method, headers, secret, body, envelope } = value as Partial<HttpCall>
  if (typeof url !== 'string') throw refused(`url must be a string, not ${shown(url)}`)
  guard.check(url)
  const chosen = method === undefined ? 'POST' : readChoice(method, 'method', METHODS)
  if (headers !== undefined) checkHeaderOptions(headers, 'a call')
  if (secret !== undefined) readName(secret, 'secret')
  if (envelope !== undefined) readBoolean(envelope, 'envelope')
  if (body !== undefined && !hasBody(chosen)) throw refused(`a ${chosen} has no body`, 'use POST, PUT or PATCH')
}

const JSON_SCHEMA = {
  type: 'object',
  required: ['url'],
  additionalProperties: false,
  properties: {
    url: { type: 'string', format: 'uri', maxLength: 2048 },
    method: { enum: METHODS, default: 'POST' },
    headers: {
      type: 'object',
      additionalProperties: {
        anyOf: [
          { type: 'string' },
          {
            type: 'object',
            required: ['secret'],
            additionalProperties: false,
            properties: { secret: { type: 'string' }, prefix: { type: 'string' } },
          },
        ],
      },
    },
    secret: { type: 'string', description: 'the name of the secret that the call is signed with' },
    body: { description: 'sent as payload' },
    envelope: { type: 'boolean', default: true },
  },
}
