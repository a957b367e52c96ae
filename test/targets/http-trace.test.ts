/** The `traceparent` of a call is that of the attempt's span, where OpenTelemetry follows attempts. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, type ContextManager, context, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { http } from '../../src/index.ts'
import { endpoint, started } from './http-endpoint.ts'

const IDS = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 }

/** As far as a span is needed here. */
class Followed {
  spanContext = () => IDS
  setAttribute = () => this
  setAttributes = () => this
  addEvent = () => this
  addLink = () => this
  addLinks = () => this
  setStatus = () => this
  updateName = () => this
  recordException = () => {}
  isRecording = () => true
  end = () => {}
}

class Following implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>()
  active = () => this.#storage.getStore() ?? ROOT_CONTEXT
  with: ContextManager['with'] = (within, work, self, ...args) =>
    this.#storage.run(within, () => work.call(self as never, ...args))
  bind: ContextManager['bind'] = (_, target) => target
  enable = () => this
  disable = () => this
}

beforeEach(() => {
  const span: Span = new Followed()
  const tracer = { startSpan: () => span, startActiveSpan: () => span as never }
  trace.setGlobalTracerProvider({ getTracer: () => tracer })
  context.setGlobalContextManager(new Following())
})
afterEach(() => {
  trace.disable()
  context.disable()
})

it('a call is part of the trace of its attempt', async () => {
  await using there = await endpoint()
  const job = http({ url: there.url, allowPrivate: true })
  await using place = await started([job])
  await place.app.runs.wait(await place.app.enqueue(job))
  expect(there.heard[0]!.headers.traceparent).toBe(`00-${IDS.traceId}-${IDS.spanId}-01`)
})
