/** What OpenTelemetry sees of attempts, through its real API: one span each, active while the handler runs, ended whatever happens. */
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type Context,
  type ContextManager,
  context,
  type Exception,
  metrics,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  type SpanStatus,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { defineJob, schedule } from '../../src/index.ts'
import type { Tracer } from '../../src/observe/tracer.ts'
import { loadTracer } from '../../src/scheduler/tracing.ts'
import { createApp, type Everytick } from '../../src/scheduler.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { openSqlite } from '../../src/store/sqlite/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

interface Seen {
  readonly name: string
  readonly options: SpanOptions
  readonly parent: Span | undefined
  readonly span: Span
  readonly attributes: Attributes
  readonly exceptions: Exception[]
  status: SpanStatus
  ends: number
}

let seen: Seen[]
let counted: { readonly name: string; readonly value: number; readonly attributes: Attributes }[]

/** A tracer that keeps what it is told. */
const keeper: OtelTracer = {
  startSpan(name, options = {}, within = context.active()) {
    const ids = { traceId: '1'.padStart(32, '0'), spanId: String(seen.length + 1).padStart(16, '0'), traceFlags: 1 }
    const kept: Seen = {
      ...{ name, options, parent: options.root ? undefined : trace.getSpan(within) },
      ...{ attributes: { ...options.attributes }, exceptions: [], status: { code: SpanStatusCode.UNSET }, ends: 0 },
      span: {
        spanContext: () => ids,
        setAttribute(key, value) {
          kept.attributes[key] = value
          return this
        },
        setAttributes(attributes) {
          Object.assign(kept.attributes, attributes)
          return this
        },
        recordException: (error) => kept.exceptions.push(error),
        setStatus(status) {
          kept.status = status
          return this
        },
        end: () => kept.ends++,
        isRecording: () => kept.ends === 0,
        updateName() {
          return this
        },
        addEvent() {
          return this
        },
        addLink() {
          return this
        },
        addLinks() {
          return this
        },
      },
    }
    seen.push(kept)
    return kept.span
  },
  startActiveSpan: () => {
    throw new Error('not asked for')
  },
}

/** Follows promises, as the context manager of an SDK does. */
const contexts = new AsyncLocalStorage<Context>()
const manager: ContextManager = {
  active: () => contexts.getStore() ?? ROOT_CONTEXT,
  with: (active, work, self, ...args) => contexts.run(active, () => work.call(self, ...args)),
  bind: (_, target) => target,
  enable: () => manager,
  disable: () => manager,
}

const kept = (name: string) => ({
  add: (value: number, attributes: Attributes = {}) => counted.push({ name, value, attributes }),
  record: (value: number, attributes: Attributes = {}) => counted.push({ name, value, attributes }),
})
const meter = {
  ...metrics.getMeter('none'),
  createCounter: kept,
  createHistogram: kept,
} as unknown as ReturnType<typeof metrics.getMeter>

let store: Store
let app: Everytick | null = null
let engine: Engine | null = null
beforeEach(() => {
  seen = []
  counted = []
  trace.setGlobalTracerProvider({ getTracer: () => keeper })
  metrics.setGlobalMeterProvider({ getMeter: () => meter })
  context.setGlobalContextManager(manager)
})
afterEach(async () => {
  await app?.stop({ drain: 0 })
  await store?.close()
  trace.disable()
  metrics.disable()
  context.disable()
})

async function started(jobs: ReturnType<typeof defineJob>[], tracer: Tracer | undefined) {
  const clock = fakeClock(Date.parse('2027-01-01T00:00:00Z'))
  store = await openSqlite({ path: ':memory:', clock })
  const schedules = jobs.map((job) => schedule({ key: `nightly-${job.name}`, cron: '* * * * *', job }))
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  app = createApp(
    { store, jobs, schedules, logger },
    {
      clock,
      timers: clock.timers,
      onSignal: () => () => {},
      onUncaught: () => () => {},
      createEngine(options) {
        engine = createEngine({ ...options, tracer, random: () => 0.5 })
        // Driven by hand.
        return { ...engine, start: async () => {} }
      },
    },
  )
  await app.start()
  return async (ms: number): Promise<void> => {
    clock.moveBy(ms)
    await engine!.settled()
  }
}

describe('an attempt', () => {
  it('is a span of its own, which tells whose it is', async () => {
    const advance = await started(
      [defineJob({ name: 'mail', queue: 'slow', run: () => 'marker-result' })],
      await loadTracer(),
    )
    await advance(60_000)
    expect(seen).toHaveLength(1)
    const [{ name, attributes, status, ends, exceptions }] = seen as [Seen]
    const runs = await store.history.runs({}, { limit: 10 })
    const run = runs.find(({ state }) => state === 'succeeded')!
    expect({ name, ends, status, exceptions }).toEqual({
      ...{ name: 'everytick.run mail', ends: 1, status: { code: SpanStatusCode.UNSET }, exceptions: [] },
    })
    expect(attributes).toEqual({
      'everytick.run.id': run.id,
      'everytick.job': 'mail',
      'everytick.queue': 'slow',
      'everytick.workspace': 'default',
      'everytick.attempt': 1,
      'everytick.schedule.key': 'nightly-mail',
      'everytick.outcome': 'returned',
    })
  })

  it('is the active span of what its handler does, also after it has waited', async () => {
    const active: (Span | undefined)[] = []
    const job = defineJob({
      name: 'mail',
      async run() {
        active.push(trace.getActiveSpan())
        await new Promise(setImmediate)
        active.push(trace.getActiveSpan())
      },
    })
    const advance = await started([job], await loadTracer())
    await advance(60_000)
    expect(active).toEqual([seen[0]!.span, seen[0]!.span])
    expect(trace.getActiveSpan()).toBeUndefined()
  })

  it('has no parent, though the app was started inside a span', async () => {
    const outer = keeper.startSpan('outer')
    const advance = await context.with(trace.setSpan(ROOT_CONTEXT, outer), async () =>
      started([defineJob({ name: 'mail', run: () => {} })], await loadTracer()),
    )
    await context.with(trace.setSpan(ROOT_CONTEXT, outer), () => advance(60_000))
    expect(seen.map(({ name, parent }) => [name, parent])).toEqual([
      ['outer', undefined],
      ['everytick.run mail', undefined],
    ])
  })

  it('that fails has the error on its span, and each of its repetitions has a span', async () => {
    const job = defineJob({
      name: 'mail',
      retry: { attempts: 2, backoff: 'fixed', base: '1s', max: '1s' },
      run() {
        throw new TypeError('no such address')
      },
    })
    const advance = await started([job], await loadTracer())
    await advance(60_000)
    await advance(5000)
    expect(seen.map(({ attributes }) => attributes['everytick.attempt'])).toEqual([1, 2])
    for (const { status, exceptions, ends } of seen) {
      expect(status).toEqual({ code: SpanStatusCode.ERROR, message: 'no such address' })
      expect(exceptions).toMatchObject([{ name: 'TypeError', message: 'no such address' }])
      expect(ends).toBe(1)
    }
  })

  it('that never returns ends its span with its timeout', async () => {
    const job = defineJob({ name: 'mail', timeout: '5s', run: () => new Promise(() => {}) })
    const advance = await started([job], await loadTracer())
    await advance(60_000)
    expect(seen[0]!.ends).toBe(0)
    await advance(5000)
    await advance(1)
    expect(seen[0]).toMatchObject({ ends: 1, attributes: { 'everytick.outcome': 'timed_out' } })
  })

  it('is counted, with its outcome and how long it took', async () => {
    const advance = await started([defineJob({ name: 'mail', run: () => {} })], await loadTracer())
    await advance(60_000)
    const attributes = { job: 'mail', queue: 'default', outcome: 'returned' }
    expect(counted).toEqual([
      { name: 'everytick.attempts', value: 1, attributes },
      { name: 'everytick.attempt.duration', value: 0, attributes },
    ])
  })

  const broken = (): never => {
    throw new Error('broken SDK')
  }
  const broke = (when: Partial<Span>): OtelTracer => ({
    ...keeper,
    startSpan: (...args) => Object.assign(keeper.startSpan(...args), when),
  })
  it.each<[string, OtelTracer, ContextManager]>([
    ['begins a span', { ...keeper, startSpan: broken }, manager],
    ['makes it active', keeper, { ...manager, with: broken }],
    ['is told of an outcome', broke({ setAttribute: broken }), manager],
    ['ends a span', broke({ end: broken }), manager],
  ])('is executed once and settled though the SDK throws when it %s', async (_, tracer, contextManager) => {
    trace.disable()
    trace.setGlobalTracerProvider({ getTracer: () => tracer })
    context.disable()
    context.setGlobalContextManager(contextManager)
    let calls = 0
    const advance = await started([defineJob({ name: 'mail', run: () => void calls++ })], await loadTracer())
    await advance(60_000)
    const ended = await store.history.runs({ states: ['succeeded'] }, { limit: 10 })
    expect([calls, ended.length]).toEqual([1, 1])
  })

  it('is nobody to follow where there is no tracer', async () => {
    const advance = await started([defineJob({ name: 'mail', run: () => {} })], undefined)
    await advance(60_000)
    expect([seen, counted]).toEqual([[], []])
  })
})
