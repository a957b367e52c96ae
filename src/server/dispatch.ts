/** Processes one request: authenticate, authorize, validate, check idempotency, call the handler, write the audit log. */

import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { EverytickError } from '../errors.ts'
import type { Json } from '../json.ts'
import { searchBudget } from '../schedule/search-budget.ts'
import { yieldToEventLoop } from '../time/in-steps.ts'
import { actingBound } from '../workspace/acting.ts'
import { translated } from './aliases.ts'
import { type Authenticate, bearerOf, tooMany } from './authenticate.ts'
import { readBody } from './body.ts'
import { holderOf, type OperationLimits } from './concurrency.ts'
import { type Begun, begin } from './idempotency.ts'
import type { StoredAnswer } from './idempotency-verdict.ts'
import { refuseOtherTag } from './if-match.ts'
import { stringifyInSlices } from './in-slices.ts'
import type { OpenStreams } from './open-streams.ts'
import type { Operation } from './operation.ts'
import { ruleOf, searchStepsOf } from './operation-rules.ts'
import type { Parts } from './parts.ts'
import { readPathParams } from './path-params.ts'
import { callerOf, mayDo, type Principal } from './principal.ts'
import { type Problem, problemOf, Refusal } from './problem.ts'
import { refuseUnreleased } from './refuse-unreleased.ts'
import { type Change, type ParsedRequest, plain, type Reply, type Route } from './route.ts'
import { shows } from './shown.ts'
import type { Throttle } from './throttle.ts'
import { refuseLong, refuseWrongItems, validated } from './validate.ts'
import type { WarningBody } from './warnings.ts'

export interface Arrived {
  readonly request: Request
  /** The path parameters of the operation. */
  readonly params: Readonly<Record<string, string>>
  readonly address: string
  readonly base: string
}

export interface Gates {
  readonly authenticate: Authenticate
  /** Separate rate limits for authenticated callers and for addresses, so that unauthenticated requests cannot use up those of callers. */
  readonly throttle: Throttle
  readonly strangers: Throttle
  readonly limits: OperationLimits
  readonly streams: OpenStreams
}

/** While the database is down every request fails the same way, so it is reported like a failing loop, throttled. */
function logFailure(
  { hub, settings }: Parts['core'],
  { error, requestId, operation }: { readonly error: unknown; readonly requestId: string; readonly operation: string },
): void {
  if (error instanceof EverytickError && error.code === 'STORE_UNREACHABLE')
    hub.tell({ kind: 'engine.error', where: 'api', error, retryInMs: 0 })
  else settings.logger.error(`${operation} failed`, { requestId, error })
}

/** While the database is down no key can be checked; a key of all workspaces that was valid before sees the cause. */
function isFleetKey({ keys, settings }: Parts, request: Request): boolean {
  const bearer = settings.authorize ? undefined : bearerOf(request)
  return bearer !== undefined && keys.lastKnown(bearer)?.workspace === null
}

/** The principal of operations that require no authentication. */
const NOBODY: Principal = { name: 'anybody', scope: 'read', workspace: null, keyId: null }
/** The body limit of unauthenticated requests, which can only send a key to sign in. */
const MAX_UNKNOWN = 4096
const REQUEST_ID = /^[\w.-]{1,64}$/

export const requestIdOf = (request: Request): string => {
  const given = request.headers.get('x-request-id')
  return given !== null && REQUEST_ID.test(given) ? given : `req_${randomUUID()}`
}

/** Never throws: every error becomes a response. */
export async function dispatch(parts: Parts, gates: Gates, { route, arrived }: Dispatched): Promise<Response> {
  const requestId = requestIdOf(arrived.request)
  const spelled = new Map<string, string>()
  let seesInside = false
  const onKnown = (principal: Principal): void => {
    seesInside = principal.workspace === null
  }
  try {
    const asked = await admitted({ parts, gates, route, spelled, onKnown }, arrived, requestId)
    const reply = await limited(parts, gates, { route, asked })
    // Nothing reads the body of a response to HEAD, so cancel it here.
    if (arrived.request.method === 'HEAD') await reply.raw?.body?.cancel()
    return await responseOf(reply, requestId)
  } catch (error) {
    const sees = seesInside || isFleetKey(parts, arrived.request)
    const { problem, headers, isOurs } = problemOf(error, requestId, sees)
    const errors = problem.errors?.map((spot) => ({ ...spot, pointer: spelled.get(spot.pointer) ?? spot.pointer }))
    if (isOurs) logFailure(parts.core, { error, requestId, operation: route.operation.id })
    return problemResponse({ ...problem, ...(errors ? { errors } : {}) }, headers)
  }
}

interface Admitted {
  readonly route: Route
  readonly asked: ParsedRequest
}

/** Holds a permit during the request, and for a stream until it ends. */
async function limited(parts: Parts, { limits, streams }: Gates, { route, asked }: Admitted): Promise<Reply> {
  const { principal, address, request } = asked
  const release = await limits.take(route.operation, holderOf(principal === NOBODY ? null : principal, address))
  try {
    const reply = await done(parts, route, asked)
    if (route.operation.method === 'get') refuseOtherTag(request, reply.headers?.etag)
    const close = await streamPlace(parts, { route, asked }, reply)
    return streams.watched(reply, {
      ...{ principal, request },
      release() {
        close()
        release()
      },
    })
  } catch (error) {
    release()
    throw error
  }
}

/** A stream counts against the stream quota of its workspace. */
async function streamPlace({ core }: Parts, { route, asked }: Admitted, { raw }: Reply): Promise<() => void> {
  const { workspace } = asked.principal
  const isStream = raw?.headers.get('content-type')?.startsWith('text/event-stream') && asked.request.method === 'GET'
  const draws = ruleOf(route.operation).quotas.some((quota) => quota === 'streams')
  if (!isStream || !draws || workspace === null) return () => {}
  try {
    return core.quotas.openStream(workspace)
  } catch (error) {
    await raw?.body?.cancel()
    throw error
  }
}

export interface Dispatched {
  readonly route: Route
  readonly arrived: Arrived
}

interface Entrance {
  readonly parts: Parts
  readonly gates: Gates
  readonly route: Route
  /** Output: maps pointers of canonical fields to those that the caller wrote. */
  readonly spelled: Map<string, string>
  /** Called once the caller is authenticated. */
  readonly onKnown: (principal: Principal) => void
}

/** Every check that needs no side effect. */
async function admitted(
  { parts, gates, route, spelled, onKnown }: Entrance,
  arrived: Arrived,
  requestId: string,
): Promise<ParsedRequest> {
  const { operation } = route
  const { request, address, base } = arrived
  const isProbe = operation.scope === 'none' && operation.withoutStore
  const principal = isProbe ? null : await gates.authenticate(request, address, { operation, params: arrived.params })
  const who = principal ?? NOBODY
  if (principal) onKnown(principal)
  // Probes have no rate limit: they are cheap, and a flood of requests must not make a process look dead.
  if (ruleOf(operation).cost !== 'probe') {
    const seconds = principal ? gates.throttle.take(callerOf(principal)) : gates.strangers.take(address)
    if (seconds > 0) throw tooMany(seconds)
  }
  if (operation.scope !== 'none') refuseScope(operation, principal)
  const params = operation.params && readPathParams(operation, arrived.params)
  const inOurs: InOurs = (schema, value, prefix) => {
    const { value: own, warnings, spelled: some } = translated(schema, value, prefix)
    for (const [is, name] of some) spelled.set(is, name)
    notes.push(...warnings)
    return own
  }
  const notes: WarningBody[] = []
  const query = operation.query
    ? validated(operation.query, inOurs(operation.query, queryOf(request), '?'), '?')
    : refuseQuery(request)
  const body =
    request.method === 'GET' || request.method === 'HEAD'
      ? undefined
      : await readBody(request, { maxBytes: Math.min(parts.settings.maxBodyBytes, principal ? Infinity : MAX_UNKNOWN) })
  if (body !== undefined && !operation.body)
    throw new Refusal('REQUEST_INVALID', 'this operation takes no request body')
  if (body === undefined && operation.body) refuseNoBody(operation.body)
  const read = operation.body && readInOurs(operation.body, body ?? {}, inOurs)
  // Reading a large body may already block the event loop for long enough, so yield before going on.
  if (body !== undefined) await yieldToEventLoop()
  const known = { params, query, body: read, notes, principal: who, request, requestId, address, base }
  const budget = searchBudget(searchStepsOf(operation))
  return { ...known, newId: parts.core.newId(), interrupted: null, budget } as unknown as ParsedRequest
}

type InOurs = (schema: z.ZodType, value: unknown, prefix: '' | '?') => unknown

function readInOurs(schema: z.ZodType, body: unknown, inOurs: InOurs): unknown {
  refuseLong(schema, body)
  const own = inOurs(schema, body, '')
  refuseWrongItems(schema, own)
  return validated(schema, own)
}

function refuseScope({ scope, reach, id }: Operation, principal: Principal | null): void {
  if (!principal)
    throw new Refusal('UNAUTHENTICATED', 'an API key is required', {
      hint: 'send authorization: Bearer evt_…; create a key with: everytick keys create',
      headers: { 'www-authenticate': 'Bearer' },
    })
  if (scope !== 'none' && !mayDo(principal.scope, scope))
    throw new Refusal('FORBIDDEN', `${id} requires a key with scope ${scope}; this key has scope ${principal.scope}`)
  if (reach === 'fleet' && principal.workspace !== null)
    throw new Refusal('FORBIDDEN', `${id} affects all workspaces, but this key is bound to one`)
}

/** An operation whose fields are all optional needs no body. */
function refuseNoBody(schema: z.ZodType): void {
  const missing = schema.safeParse({}).error?.issues.map(({ path }) => path.join('.')) ?? []
  if (missing.length === 0) return
  const needed = missing.every((name) => name !== '') ? `; required: ${missing.join(', ')}` : ''
  throw new Refusal('REQUEST_INVALID', 'the request has no body', {
    hint: `send a JSON object with content-type: application/json${needed}`,
  })
}

function queryOf(request: Request): Record<string, string> {
  // No prototype, so that a name such as `__proto__` is an ordinary key.
  const query: Record<string, string> = Object.create(null)
  for (const [name, value] of new URL(request.url).searchParams) {
    if (Object.hasOwn(query, name))
      throw new Refusal('REQUEST_INVALID', `?${name.slice(0, 60)} is given twice`, {
        hint: 'separate values with commas',
      })
    query[name] = value
  }
  return query
}

function refuseQuery(request: Request): undefined {
  const [name] = Object.keys(queryOf(request))
  if (name !== undefined) throw new Refusal('REQUEST_INVALID', `?${name.slice(0, 60)} is unknown`)
  return undefined
}

/** With an Idempotency-Key, replays the first response if there is one; otherwise calls the handler. */
async function done(parts: Parts, route: Route, asked: ParsedRequest): Promise<Reply> {
  const key = asked.request.headers.get('idempotency-key')
  if (key === null || route.operation.method !== 'post' || route.operation.action === undefined)
    return recorded(parts, route, asked)
  const { principal, request, requestId } = asked
  const text = `${request.method} ${new URL(request.url).pathname}\n${JSON.stringify(asked.body ?? null)}`
  const { recovery } = route.operation
  const look = typeof recovery === 'object' ? recovery.look : null
  const begun = await begin(parts.core, { who: callerOf(principal), key, text, requestId, look })
  if ('status' in begun) {
    const { status, headers, body } = begun
    await parts.jobs.refresh()
    return { status, body: shows(parts).repeated(body), headers: { ...headers, 'idempotency-replayed': 'true' } }
  }
  return doneOnce(parts, { route, asked: { ...asked, newId: begun.newId, interrupted: begun.interrupted } }, begun)
}

async function doneOnce(parts: Parts, { route, asked }: Omit<Answered, 'reply'>, begun: Begun): Promise<Reply> {
  let reply: Reply
  try {
    reply = await handled(parts, route, asked)
  } catch (error) {
    // A refusal wrote nothing. Otherwise the next request takes over; while the database is down, the lease expires.
    if (asked.interrupted || problemOf(error, asked.requestId).isOurs) await begun.interrupt().catch(() => {})
    else await begun.abandon()
    throw error
  }
  const { status, headers = {}, body, repeated = body } = reply
  const kept: StoredAnswer = { status, headers, body: plain(repeated) }
  try {
    await record(parts, { route, asked, reply })
  } finally {
    // The change was made even if recording it failed, so a repeated request must not make it again.
    await begun.finish(kept)
  }
  return reply
}

async function recorded(parts: Parts, route: Route, asked: ParsedRequest): Promise<Reply> {
  const reply = await handled(parts, route, asked)
  await record(parts, { route, asked, reply })
  return reply
}

async function handled({ jobs }: Parts, { operation, handle }: Route, asked: ParsedRequest): Promise<Reply> {
  // Whatever shows a payload must know which parts are redacted.
  if (operation.scope !== 'none' && !operation.withoutStore) await jobs.refresh()
  const isBound = (asked.principal?.workspace ?? null) !== null
  const made = await actingBound(isBound, async () => handle(asked))
  refuseUnreleased(operation, made)
  const reply = withNotes(made, asked.notes)
  if (operation.action !== undefined && reply.change === undefined)
    throw new Error(`${operation.id} did not report what it changed`)
  return reply
}

/** Adds the alias warnings of the request to those of the response. */
function withNotes(reply: Reply, notes: readonly WarningBody[]): Reply {
  const { body } = reply
  if (notes.length === 0 || typeof body !== 'object' || body === null) return reply
  const { warnings = [] } = body as { readonly warnings?: readonly WarningBody[] }
  return { ...reply, body: { ...body, warnings: [...notes, ...warnings] } }
}

interface Answered {
  readonly route: Route
  readonly asked: ParsedRequest
  readonly reply: Reply
}

/** Writes the change to the audit log before the response is sent. */
async function record({ core }: Parts, { route, asked, reply }: Answered): Promise<void> {
  const { action } = route.operation
  const { principal, requestId, address, interrupted } = asked
  const change = interrupted && reply.change === 'none' ? changeBefore(asked) : reply.change
  if (action === undefined || change === undefined || change === 'none') return
  const { workspace, target, before, after } = change
  const repeats: { repeats?: string } = interrupted ? { repeats: interrupted.requestId } : {}
  const origin: Json = { requestId, address, keyId: principal.keyId, ...repeats }
  await (await core.store()).auditLog.append({
    ...{ workspace, actor: principal.name, action, target, origin },
    before: plain(before),
    after: plain(after),
  })
}

/** For a request whose server crashed: if nothing was left to change, the first server may have changed it without an audit entry. */
const changeBefore = ({ principal, request }: ParsedRequest): Change => ({
  workspace: principal.workspace ?? '',
  target: new URL(request.url).pathname,
})

/** Headers of every response: no caching, framing or MIME sniffing. */
export const SAFETY: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

async function responseOf({ status, body, headers = {}, raw }: Reply, requestId: string): Promise<Response> {
  if (raw) {
    for (const [name, value] of Object.entries({ ...SAFETY, 'x-request-id': requestId }))
      if (!raw.headers.has(name)) raw.headers.set(name, value)
    return raw
  }
  const type = body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }
  const all = { ...SAFETY, 'x-request-id': requestId, ...type, ...headers }
  return new Response(body === undefined ? null : await stringifyInSlices(body), { status, headers: all })
}

export function problemResponse(problem: Problem, headers: Readonly<Record<string, string>> = {}): Response {
  const type = { 'content-type': 'application/problem+json; charset=utf-8', 'x-request-id': problem.requestId }
  return new Response(JSON.stringify(problem), { status: problem.status, headers: { ...SAFETY, ...type, ...headers } })
}
