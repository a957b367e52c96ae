/** Generates the OpenAPI document from the table of operations, with zod's JSON Schema export. */
import { z } from 'zod'
import { ERROR_CODES } from '../errors.ts'
import { acceptedBy, aliasesIn } from './aliases.ts'
import { isLimited } from './concurrency.ts'
import { components } from './contract/vocabulary.ts'
import type { AnswerSpec, Operation } from './operation.ts'
import { ruleOf } from './operation-rules.ts'
import { PROBLEM_CODES, type ProblemCode } from './problem-codes.ts'

type JsonObject = Record<string, unknown>

const PROBLEM = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail', 'requestId'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', enum: [...Object.keys(PROBLEM_CODES), ...Object.keys(ERROR_CODES)] },
    detail: { type: 'string' },
    hint: { type: 'string' },
    requestId: { type: 'string' },
    quota: {
      type: 'object',
      required: ['name', 'limit', 'used'],
      properties: { name: { type: 'string' }, limit: { type: 'integer' }, used: { type: 'integer' } },
    },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer'],
        properties: {
          pointer: { type: 'string' },
          message: { type: 'string' },
          hint: { type: 'string' },
          span: { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2 },
        },
      },
    },
  },
}
/** The errors that every operation may return. */
const ALWAYS: readonly ProblemCode[] = ['RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE']

export interface DocumentOptions {
  readonly version: string
  /** Such as `/api/v1`. */
  readonly base: string
}

export function openApiDocument(operations: readonly Operation[], { version, base }: DocumentOptions): JsonObject {
  const schemas: JsonObject = { Problem: PROBLEM }
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): JsonObject => drawn(schema, io, schemas)
  const paths: Record<string, JsonObject> = {}
  for (const each of operations) {
    paths[each.path] = { ...paths[each.path], [each.method]: operationObject(each, schemaOf) }
  }
  const tags = [...new Set(operations.map(({ resource }) => resource))].map((name) => ({ name }))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Everytick',
      version,
      description: 'Durable schedules and runs. Instants are RFC 3339 in UTC, durations text such as 5m.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: base }],
    tags,
    paths,
    components: {
      schemas,
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key, such as evt_op_…' },
        session: { type: 'apiKey', in: 'cookie', name: 'everytick_session' },
      },
    },
  }
}

type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => JsonObject

function operationObject(operation: Operation, schemaOf: SchemaOf): JsonObject {
  const { id, summary, resource, scope, reach, body, answers } = operation
  return {
    operationId: id,
    summary,
    tags: [resource],
    ...(scope === 'none' ? { security: [] } : { security: [{ key: [] }, { session: [] }] }),
    'x-scope': scope,
    'x-reach': reach,
    parameters: [
      ...parametersIn('path', operation.params, schemaOf),
      ...parametersIn('query', operation.query, schemaOf),
      ...headersOf(operation),
    ],
    ...(body ? { requestBody: { content: { 'application/json': { schema: schemaOf(body, 'input') } } } } : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [status, answerObject(answer, schemaOf)]),
      ),
      ...problemsOf(operation),
    },
  }
}

function parametersIn(place: 'path' | 'query', schema: z.ZodType | undefined, schemaOf: SchemaOf): JsonObject[] {
  if (!schema) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, JsonObject>
    required?: string[]
  }
  return Object.entries(properties).map(([name, each]) => ({
    ...{ name, in: place, schema: each },
    ...(each.deprecated === true ? { deprecated: true, description: each.description } : {}),
    required: place === 'path' || required.includes(name),
    // Arrays in the query are comma-separated.
    ...(place === 'query' && each.type === 'array' ? { style: 'form', explode: false } : {}),
  }))
}

function headersOf({ method, action, refusals = [] }: Operation): JsonObject[] {
  const header = (name: string, description: string): JsonObject => ({
    ...{ name, in: 'header', description, required: false, schema: { type: 'string' } },
  })
  return [
    ...(method === 'post' && action
      ? [header('Idempotency-Key', 'The same key and body give the same answer for 24 hours.')]
      : []),
    ...(refusals.includes('PRECONDITION_FAILED') ? [header('If-Match', 'The ETag that was read.')] : []),
  ]
}

function answerObject({ description, schema, mediaType, headers = [] }: AnswerSpec, schemaOf: SchemaOf): JsonObject {
  const type = mediaType ?? 'application/json'
  const text = type === 'application/json' ? undefined : { type: 'string' }
  return {
    description,
    ...(headers.length > 0
      ? { headers: Object.fromEntries(headers.map((name) => [name, { schema: { type: 'string' } }])) }
      : {}),
    ...(schema || text ? { content: { [type]: { schema: schema ? schemaOf(schema, 'output') : text } } } : {}),
  }
}

function problemsOf(operation: Operation): JsonObject {
  const { scope, reach, params, query, body, refusals = [], action, method, recovery } = operation
  const codes: string[] = [...ALWAYS, ...refusals]
  if (scope !== 'none') codes.push('UNAUTHENTICATED')
  if (scope === 'operate' || scope === 'admin' || reach === 'fleet') codes.push('FORBIDDEN')
  if (isLimited(operation)) codes.push('CONCURRENCY_LIMITED')
  if (params || query || body) codes.push('REQUEST_INVALID')
  if (body) codes.push('BODY_INVALID', 'BODY_TOO_LARGE', 'MEDIA_TYPE')
  if (method === 'post' && action) codes.push('IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_FLIGHT')
  const { quotas } = ruleOf(operation)
  if (quotas.some((quota) => quota !== 'payloadBytesPerDay')) codes.push('QUOTA_REACHED')
  if (quotas.includes('payloadBytesPerDay')) codes.push('QUOTA_SPENT')
  if (typeof recovery === 'object') codes.push('IDEMPOTENCY_OUTCOME_UNKNOWN')
  const byStatus = new Map<number, string[]>()
  for (const code of codes) {
    const status = statusOf(code)
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
  return Object.fromEntries(
    [...byStatus].map(([status, each]) => [status, { description: [...new Set(each)].join(', '), content }]),
  )
}

const statusOf = (code: string): number =>
  code in PROBLEM_CODES ? PROBLEM_CODES[code as ProblemCode][0] : code.endsWith('_NOT_FOUND') ? 404 : 409

/** A schema whose named parts are moved to the components. */
function drawn(schema: z.ZodType, io: 'input' | 'output', schemas: JsonObject): JsonObject {
  const {
    $defs = {},
    $schema: _,
    ...own
  } = z.toJSONSchema(schema, {
    io,
    metadata: components,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (io === 'input') drawAliases(zodSchema as unknown as z.ZodType, jsonSchema as JsonObject)
      drawDocumented(zodSchema as unknown as z.ZodType, jsonSchema as JsonObject)
    },
  }) as JsonObject & { $defs?: JsonObject }
  for (const [name, each] of Object.entries($defs)) schemas[name] = moved(each)
  return moved(own) as JsonObject
}

/** Applies the `openapi` meta of a schema, which overrides its generated form. */
function drawDocumented(schema: z.ZodType, drawn: JsonObject): void {
  const said = z.globalRegistry.get(schema)?.openapi as JsonObject | undefined
  if (!said) return
  for (const key of Object.keys(drawn)) delete drawn[key]
  Object.assign(drawn, said)
}

/** Adds the aliases of an object; a required field is required under one of its names. */
function drawAliases(schema: z.ZodType, drawn: JsonObject): void {
  const aliases = aliasesIn(schema)
  if (aliases.length === 0) return
  const { shape } = schema as z.ZodObject
  const properties = { ...(drawn.properties as JsonObject) }
  for (const alias of aliases) {
    const { name, is, remark } = alias
    const { $schema: _, ...accepted } = z.toJSONSchema(acceptedBy(alias, shape), {
      io: 'input',
      unrepresentable: 'any',
      override: (each) => drawDocumented(each.zodSchema as unknown as z.ZodType, each.jsonSchema as JsonObject),
    })
    const description = `Another name of ${is}${remark === undefined ? '' : `; ${remark}`}.`
    properties[name] = { ...accepted, deprecated: true, description }
  }
  const required = (drawn.required as string[] | undefined) ?? []
  const either = aliases.filter(({ is }) => required.includes(is))
  drawn.properties = properties
  drawn.required = required.filter((field) => !either.some(({ is }) => is === field))
  if (either.length > 0)
    drawn.allOf = either.map(({ name, is }) => ({ anyOf: [{ required: [is] }, { required: [name] }] }))
}

/** Rewrites references to `#/$defs/X` to point to the components. */
function moved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moved)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'id' || typeof (value as JsonObject).id !== 'string')
      .map(([key, each]) => [
        key,
        key === '$ref' && typeof each === 'string' ? each.replace('#/$defs/', '#/components/schemas/') : moved(each),
      ]),
  )
}
