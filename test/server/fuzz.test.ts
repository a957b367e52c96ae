/** Throws made-up queries and bodies at every operation: whatever is said, the fault is never ours, and the answer is always ours. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everytick } from '../../src/index.ts'
import { createServer } from '../../src/server/app.ts'
import { openApiDocument } from '../../src/server/openapi.ts'
import type { Operation } from '../../src/server/operation.ts'
import { CASES } from './cases.ts'
import { openStage, STORES, type Stage } from './stage.ts'

const OPERATIONS = createServer(everytick({ store: 'sqlite::memory:', jobs: [] }), {
  backgroundTasks: false,
}).routes.map(({ operation }) => operation)
const STREAMS = ['followEvents']
type Schema = { readonly [key: string]: unknown }
const document = openApiDocument(OPERATIONS, { version: '0', base: '/api/v1' }) as unknown as {
  paths: Record<
    string,
    Record<
      string,
      {
        parameters: { name: string; in: string; schema: Schema }[]
        requestBody?: { content: Record<string, { schema: Schema }> }
      }
    >
  >
  components: { schemas: Record<string, Schema> }
}

/** Texts that have hurt somebody before. */
const NASTY = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  "'; drop table schedules; --",
  '../../etc/passwd',
  '%00',
  '🙂'.repeat(40),
  '-1',
  '1e999',
  'NaN',
  'null',
  '9'.repeat(30),
  '* * * * *',
  '0 0 31 2 *',
  'PT5M',
  '5m',
  '-5m',
  '2026-13-45T99:99:99Z',
  '2027-01-04T09:00:00Z',
  '+275760-09-13T00:00:00Z',
  '__proto__',
  'default',
  'a',
  'plain',
  'typed',
]
const nasty = fc.constantFrom(...NASTY)
const anything = fc.oneof(
  nasty,
  fc.jsonValue({ maxDepth: 3 }),
  fc.integer(),
  fc.double(),
  fc.string({ unit: 'binary', maxLength: 40 }),
)

/** Mostly what the schema wants, and now and then something else. */
function likely(schema: Schema | undefined, depth = 0): fc.Arbitrary<unknown> {
  const ref = schema?.$ref as string | undefined
  if (ref) return likely(document.components.schemas[ref.split('/').at(-1)!], depth)
  if (!schema || depth > 4) return anything
  const options = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined
  if (options) return fc.oneof(...options.map((each) => likely(each, depth + 1)))
  if (schema.enum) return fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...(schema.enum as unknown[])) }, anything)
  if ('const' in schema) return fc.constant(schema.const)
  return fc.oneof({ weight: 9, arbitrary: typical(schema, depth) }, { weight: 1, arbitrary: anything })
}

function typical(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const { minimum = -10, maximum = 1000 } = schema as { minimum?: number; maximum?: number }
  switch (schema.type) {
    case 'integer':
      return fc.integer({ min: Math.max(minimum, -(2 ** 40)), max: Math.min(maximum, 2 ** 40) })
    case 'number':
      return fc.double()
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(likely(schema.items as Schema, depth + 1), { maxLength: 4 })
    case 'object': {
      const fields = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
      return fc.record(Object.fromEntries(fields.map(([name, each]) => [name, likely(each, depth + 1)])), {
        requiredKeys: [],
      })
    }
    case 'string':
      return fc.oneof(
        nasty,
        fc.string({ maxLength: 30 }),
        fc.uuid(),
        fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      )
    default:
      return anything
  }
}

const queryText = (query: Record<string, unknown>): string =>
  new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value.replaceAll(/\p{Surrogate}/gu, '') : (JSON.stringify(value) ?? ''),
    ]),
  ).toString()

describe.each(STORES)('on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const asked = OPERATIONS.filter(({ id }) => !STREAMS.includes(id))
  it.each(asked.map((operation) => [operation.id, operation] as const))(
    '%s never fails by what it is sent',
    async (id, operation) => {
      const spec = document.paths[operation.path]![operation.method]!
      const query = Object.fromEntries(
        spec.parameters.filter((each) => each.in === 'query').map(({ name, schema }) => [name, likely(schema)]),
      )
      const body = likely(spec.requestBody?.content['application/json']?.schema)
      const { happy } = await CASES[id]!(stage)
      const [path = ''] = happy.path.split('?')
      const touch = touched(spec.requestBody?.content['application/json']?.schema)
      const made = fc.tuple(
        fc.record(query, { requiredKeys: [] }),
        spec.requestBody ? body : fc.constant(undefined),
        nasty,
        touch,
      )
      await fc.assert(
        fc.asyncProperty(made, async ([given, sent, word, few]) => {
          const asks: [string, unknown][] = [
            ...(happy.body === undefined
              ? []
              : [[happy.path, { ...(happy.body as object), ...few }] as [string, unknown]]),
            [`${path}?${queryText(given)}`, sent],
            [withWord(operation, path, word), sent ?? undefined],
          ]
          for (const [where, what] of asks) {
            const { status, body: answer } = await stage.ask(operation.method.toUpperCase(), where, { body: what })
            expect(status, JSON.stringify(answer)).toBeLessThan(500)
          }
        }),
        { numRuns: 12, seed: 20261116 },
      )
    },
  )
})

/** One or two fields, to be laid over a body that is right. */
function touched(schema: Schema | undefined): fc.Arbitrary<Record<string, unknown>> {
  const ref = schema?.$ref as string | undefined
  if (ref) return touched(document.components.schemas[ref.split('/').at(-1)!])
  const fields = Object.entries((schema?.properties ?? {}) as Record<string, Schema>)
  if (fields.length === 0) return fc.constant({})
  const one = fc.constantFrom(...fields).chain(([name, each]) => likely(each).map((value) => ({ [name]: value })))
  return fc.tuple(one, one).map(([a, b]) => ({ ...a, ...b }))
}

/** With a nasty text in the place of a name or an id. */
function withWord(operation: Operation, path: string, word: string): string {
  const names = operation.path.split('/')
  const word1 = encodeURIComponent(word.replaceAll(/\p{Surrogate}/gu, '')) || 'x'
  return path
    .split('/')
    .map((part, i) => (names[i]?.startsWith('{') ? word1 : part))
    .join('/')
}
