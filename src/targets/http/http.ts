/** The HTTP target: a job whose work is one signed call. What is sent, kept and meant is decided in the files beside it; here it is put in order. */
import type { JobContext } from '../../engine/context.ts'
import { defineJob, type Job, type PayloadInput, WORK_KEYS } from '../../job.ts'
import { AttemptDiscarded, AttemptFailed, HandOver } from '../../run/control.ts'
import type { PayloadSchema } from '../../scheduler/payload.ts'
import { activeTraceparent } from '../../scheduler/tracing.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import { systemTimers, type Timers } from '../../time/timers.ts'
import { messageOf } from '../message.ts'
import { healthOf, meaningOf } from './answer.ts'
import type { Health } from './breaker.ts'
import type { Heard } from './call.ts'
import { tell } from './dispatch.ts'
import { failureOf, healthOfFailure, isRefusal, RESTING, refusedCall, sentAway } from './failure.ts'
import { follow } from './follow.ts'
import { valuesAt } from './hidden.ts'
import { createHosts, type Hosts } from './hosts.ts'
import { type HttpCall, httpCallSchema } from './http-call.ts'
import { type UserHeaders, userHeaders } from './http-headers.ts'
import { type FixedCall, type HttpOptions, type HttpSettings, readHttpOptions } from './http-options.ts'
import { type RequestInput, requestOf } from './request.ts'
import { namedSigning, UNSIGNED } from './secrets.ts'
import { type HttpResult, toStoredResult } from './stored-result.ts'
import { traceparentOf } from './traceparent.ts'

/** With `url`, a job that calls it; without, the generic job, whose payload says what to call. */
type Input<Schema, Url> = Url extends string ? PayloadInput<Schema> : HttpCall

interface Tools {
  /** The machine's own, also under a clock of tests: receivers hold the time of a call against theirs. */
  readonly clock: Clock
  readonly timers: Timers
  readonly hosts: Hosts
}

/** All jobs of a process call the same hosts. */
const tools: Tools = { clock: systemClock, timers: systemTimers, hosts: createHosts(systemClock, systemTimers) }

export function http<Schema extends PayloadSchema | undefined = undefined, Url extends string | undefined = undefined>(
  options: HttpOptions<Schema, Url> = {},
): Job<Input<Schema, Url>, HttpResult> {
  const settings = readHttpOptions(options)
  const work = Object.fromEntries(WORK_KEYS.flatMap((key) => (options[key] === undefined ? [] : [[key, options[key]]])))
  const { name, timeout, redact, fixed, way } = settings
  const common = { ...work, name, timeout, redact }
  if (fixed === null) {
    const run = (call: HttpCall, ctx: JobContext): Promise<HttpResult> => attempt(settings, callOf(call, settings), ctx)
    return defineJob({ ...common, payload: httpCallSchema(way.guard), run }) as Job<Input<Schema, Url>, HttpResult>
  }
  const run = (payload: unknown, ctx: JobContext): Promise<HttpResult> =>
    attempt(settings, { ...fixed, payload, hidden: valuesAt(payload, redact) }, ctx)
  const { payload } = options
  const job = payload
    ? defineJob({ ...common, payload: payload as PayloadSchema, run })
    : defineJob({ ...common, run: (ctx: JobContext) => run(null, ctx) })
  return job as Job<Input<Schema, Url>, HttpResult>
}

interface Calling extends FixedCall {
  readonly payload: unknown
  /** What of the payload nobody is shown. */
  readonly hidden: readonly string[]
}

/** Its secret is found here, since only the worker has it. */
function callOf(call: HttpCall, { secrets, redact }: HttpSettings): Calling {
  const { url, method = 'POST', headers = {}, secret, body = null, envelope = true } = call
  const signing = secret === undefined ? UNSIGNED : namedSigning(secrets.get(secret, new URL(url)))
  // Headers are known for what they are when they are put together.
  const paths = redact.filter((path) => !path.startsWith('headers'))
  return { url, method, headers, signing, envelope, payload: body, hidden: valuesAt(call, paths) }
}

async function attempt(settings: HttpSettings, calling: Calling, ctx: JobContext): Promise<HttpResult> {
  const { signing, method, envelope } = calling
  const { url, headers, secrets } = checked(settings, calling)
  const message = messageOf(ctx, calling.payload)
  const token = await ctx.completionToken()
  const asked = { url, method, envelope, headers, keys: signing.keys, message }
  const heard = await dispatched(settings, ctx, { ...asked, token })
  const hidden = [...signing.texts, ...secrets, ...calling.hidden, token]
  return meant(settings, ctx, {
    heard,
    kept: toStoredResult(heard, { headers: settings.keepHeaders, secrets: hidden }),
  })
}

/** Checked again: a payload may be older than the rules, and a secret may be what no header can hold. */
function checked(
  { way, secrets }: HttpSettings,
  { url: given, headers }: Calling,
): UserHeaders & { readonly url: URL } {
  try {
    const url = way.guard.check(given)
    return { url, ...userHeaders(headers, secrets, url) }
  } catch (error) {
    throw isRefusal(error) ? refusedCall(error) : error
  }
}

/** One call, for which the host has room and of which whoever asked is told. */
async function dispatched(
  settings: HttpSettings,
  ctx: JobContext,
  { token, ...asked }: RequestInput & { readonly token: string },
): Promise<Heard> {
  const { clock, timers } = tools
  const { name, way, redirects, completionUrl, onDispatch, timeoutMs } = settings
  const { run, signal } = ctx
  const opened = await way.open()
  const leave = await entered(settings, ctx, asked.url)
  const startedAt = clock.elapsed()
  const told = (status: number): void =>
    tell(onDispatch, ctx, { job: name, status, durationMs: clock.elapsed() - startedAt })
  const facts = {
    now: clock.now(),
    token,
    traceparent: activeTraceparent() ?? traceparentOf(run.id, run.fence),
    completionUrl: completionUrl === null ? null : `${completionUrl}/api/v1/runs/${run.id}/complete`,
  }
  try {
    const heard = await follow(requestOf(asked, facts), { way: opened, guard: way.guard, redirects, signal, timers })
    leave(healthOf(heard.status))
    told(heard.status)
    return heard
  } catch (error) {
    leave(healthOfFailure(error, { signal, tookMs: clock.elapsed() - startedAt, timeoutMs }))
    told(0)
    throw failureOf(error, signal)
  }
}

/** Answers how to leave. A run that is sent away comes back; one that may be begun only once has no later, so it waits. */
async function entered(
  { maxPerHost }: HttpSettings,
  { run, workspace, signal, log }: JobContext,
  { origin }: URL,
): Promise<(health: Health) => void> {
  // Those with one attempt: which of them are `at_most_once` is not told here.
  const waits = run.maxAttempts === 1
  const entrance = await tools.hosts.enter(origin, { workspace, maxPerHost, signal, waits })
  if (entrance.kind === 'entered') return entrance.leave
  log.info(`the endpoint was not called: ${RESTING}`, { code: 'HTTP_CIRCUIT_OPEN' })
  throw sentAway(run, entrance.forMs)
}

interface Answered {
  readonly heard: Heard
  readonly kept: HttpResult
}

function meant({ waitMs, async }: HttpSettings, ctx: JobContext, { heard, kept }: Answered): HttpResult {
  const meaning = meaningOf(heard, { now: tools.clock.now(), async })
  switch (meaning.kind) {
    case 'succeeded':
      return kept
    case 'handed_over':
      ctx.log.info('the endpoint answered 202 and goes on by itself', { waitMs })
      throw new HandOver(waitMs)
    case 'failed': {
      const { code, message, retryInMs } = meaning
      const detail = { ...kept }
      throw new AttemptFailed('HttpError', message, { code, detail, ...(retryInMs === null ? {} : { retryInMs }) })
    }
    case 'discarded':
      throw new AttemptDiscarded('HttpError', meaning.message, {
        code: meaning.code,
        detail: { ...kept },
        pauseSchedule: meaning.pauses,
      })
  }
}
