/** Traces attempts with OpenTelemetry if its package is installed; the user's SDK exports spans and metrics. */
import type { AttemptSpan, Tracer } from '../observe/tracer.ts'
import type { Run } from '../run/run.ts'
import type { Ended } from '../run/settle.ts'

type Api = typeof import('@opentelemetry/api')

/** Loaded when an app starts; undefined if the package is not installed or no SDK is set up. */
export async function loadTracer(): Promise<Tracer | undefined> {
  try {
    const api = await import('@opentelemetry/api')
    if (!isListening(api)) return undefined
    following = api
    return tracerOf(api)
  } catch {
    return undefined
  }
}

let following: Api | null = null

/** The `traceparent` of the active span, for outgoing calls; null without tracing. */
export function activeTraceparent(): string | null {
  try {
    const span = following?.trace.getActiveSpan()?.spanContext()
    if (!span || !following?.isSpanContextValid(span)) return null
    return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`
  } catch {
    return null
  }
}

/** Without an SDK the package returns no-op objects, which would still cost time in every attempt. */
function isListening({ trace, metrics }: Api): boolean {
  const tracers = trace.getTracerProvider() as { getDelegate?: () => object }
  const providers: object[] = [tracers.getDelegate?.() ?? tracers, metrics.getMeterProvider()]
  return providers.some((provider) => !/^Noop/.test(provider.constructor.name))
}

/** Errors of the user's SDK must not reach the handler. */
function tracerOf({ trace, context, metrics, ROOT_CONTEXT, SpanKind, SpanStatusCode }: Api): Tracer {
  const tracer = trace.getTracer('everytick')
  const meter = metrics.getMeter('everytick')
  const attempts = meter.createCounter('everytick.attempts', { description: 'attempts that ended, by outcome' })
  const duration = meter.createHistogram('everytick.attempt.duration', {
    description: 'how long attempts took',
    unit: 's',
  })

  const begin = (run: Run): AttemptSpan => {
    // A root span: the span that started the app or enqueued the run has usually ended.
    const options = { kind: SpanKind.CONSUMER, root: true, attributes: attributesOf(run) }
    const span = tracer.startSpan(`everytick.run ${run.job}`, options, ROOT_CONTEXT)
    const active = trace.setSpan(ROOT_CONTEXT, span)
    return {
      within<T>(work: () => T): T {
        const answers: T[] = []
        quietly(() => context.with(active, () => answers.push(work())))()
        return answers.length > 0 ? answers[0]! : work()
      },
      end: quietly((outcome: Ended, durationMs: number) => {
        const labels = { job: run.job, queue: run.queue, outcome: outcome.kind }
        attempts.add(1, labels)
        duration.record(durationMs / 1000, labels)
        span.setAttribute('everytick.outcome', outcome.kind)
        if ('error' in outcome) {
          span.recordException(outcome.error)
          span.setStatus({ code: SpanStatusCode.ERROR, message: outcome.error.message })
        }
        span.end()
      }),
    }
  }

  return {
    begin(run) {
      try {
        return begin(run)
      } catch {
        return UNSEEN
      }
    },
  }
}

const UNSEEN: AttemptSpan = { within: (work) => work(), end() {} }

function quietly<Args extends unknown[]>(tell: (...args: Args) => void): (...args: Args) => void {
  return (...args) => {
    try {
      tell(...args)
    } catch {
      // The SDK failed, and there is nowhere left to report it.
    }
  }
}

const attributesOf = (run: Run): Record<string, string | number> => ({
  'everytick.run.id': run.id,
  'everytick.job': run.job,
  'everytick.queue': run.queue,
  'everytick.workspace': run.workspace,
  'everytick.attempt': run.attempt,
  ...(run.schedule === null ? {} : { 'everytick.schedule.key': run.schedule.key }),
})
