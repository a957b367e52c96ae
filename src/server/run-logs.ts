/** Serves the log of a run: as NDJSON, or as server-sent events until the run ends. */
import type { Run } from '../run/run.ts'
import type { LogLine } from '../store/contract/logs.ts'
import { yieldToEventLoop } from '../time/in-steps.ts'
import { PAGE_BYTES } from './contract/vocabulary.ts'
import { mapInSlices } from './in-slices.ts'
import type { Parts } from './parts.ts'
import type { Reply } from './route.ts'
import { shownStream } from './shown.ts'

export interface LogQuery {
  readonly after?: number | undefined
  readonly limit?: number | undefined
  readonly follow: boolean
  /** The header with which a browser resumes a broken connection. */
  readonly lastEventId?: string | null
}

const DEFAULT_LINES = 1000
const POLL_MS = 400
const PRESENCE_MS = 15_000
const HEADERS = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }

const body = (line: LogLine) => ({ ...line, at: new Date(line.at) })

export async function logReply(parts: Parts, run: Run, query: LogQuery): Promise<Reply> {
  const { after = 0, limit = DEFAULT_LINES, follow, lastEventId } = query
  if (follow) {
    const from = /^\d{1,15}$/.test(lastEventId ?? '') ? Number(lastEventId) : after
    const stream = streamOf(parts, (pause) => lines(parts, run.id, { from, pause }))
    return { status: 200, raw: shownStream(new Response(stream, { headers: HEADERS })) }
  }
  const text = await textOf(parts, run, { after, limit })
  return { status: 200, raw: shownStream(new Response(text, { headers: { 'content-type': 'application/x-ndjson' } })) }
}

/** Reads one page of lines in small batches, yielding to the event loop in between. */
async function textOf({ core }: Parts, run: Run, wanted: { after: number; limit: number }): Promise<string> {
  const { logs } = await core.store()
  const texts: string[] = []
  let { after } = wanted
  for (let bytes = 0; texts.length < wanted.limit && bytes < PAGE_BYTES; ) {
    const limit = Math.min(DEFAULT_LINES, wanted.limit - texts.length)
    const page = await logs.read(run.id, { after, limit, maxBytes: PAGE_BYTES - bytes })
    for (const text of await mapInSlices(page, (line) => `${JSON.stringify(body(line))}\n`)) {
      texts.push(text)
      bytes += text.length
    }
    if (page.length < limit) break
    after = page.at(-1)!.seq
    await yieldToEventLoop()
  }
  return texts.join('')
}

interface Following {
  readonly from: number
  /** Returns false at the end. */
  readonly pause: () => Promise<boolean>
}

async function* lines({ core }: Parts, runId: string, { from, pause }: Following): AsyncGenerator<string> {
  const store = await core.store()
  let after = from
  let ended = false
  let saidAt = core.clock.elapsed()
  do {
    // The last lines may be stored just after the run ends, so read once more. A deleted run has ended too.
    const isLast = ended
    const found = await store.history.run(runId)
    ended = found === null || found.finishedAt !== null
    let page: LogLine[]
    do {
      page = await store.logs.read(runId, { after, limit: DEFAULT_LINES, maxBytes: PAGE_BYTES })
      if (page.length > 0) {
        yield page.map((line) => `id: ${line.seq}\nevent: log\ndata: ${JSON.stringify(body(line))}\n\n`).join('')
        saidAt = core.clock.elapsed()
      }
      after = page.at(-1)?.seq ?? after
    } while (page.length > 0)
    if (isLast && ended) {
      yield 'event: end\ndata: {}\n\n'
      return
    }
    if (core.clock.elapsed() - saidAt >= PRESENCE_MS) {
      yield ': beat\n\n'
      saidAt = core.clock.elapsed()
    }
  } while (await pause())
}

/** Reads with backpressure, and ends with the client or the server, whichever is first. */
function streamOf(
  { core, ending }: Parts,
  open: (pause: () => Promise<boolean>) => AsyncGenerator<string>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let over = ending.aborted
  let wake = (): void => {}
  const pause = async (): Promise<boolean> => {
    if (!over)
      await new Promise<void>((resolve) => {
        const forget = core.timers.set(POLL_MS, resolve)
        wake = () => {
          forget()
          resolve()
        }
      })
    return !over
  }
  let isReading = false
  const finish = (): void => {
    over = true
    wake()
  }
  let forgetEnding = (): void => {}
  const source = open(pause)
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const onEnding = (): void => {
          finish()
          // The client does not read, so it would never see a normal close.
          if (!isReading) controller.error(new Error('the server is stopping'))
        }
        ending.addEventListener('abort', onEnding, { once: true })
        forgetEnding = () => ending.removeEventListener('abort', onEnding)
      },
      async pull(controller) {
        isReading = true
        try {
          const { done, value } = await source.next()
          if (!done) return controller.enqueue(encoder.encode(value))
        } catch (error) {
          // The client reconnects and resumes after its last line.
          if (!over) core.hub.tell({ kind: 'engine.error', where: 'logs', error, retryInMs: 0 })
        } finally {
          isReading = false
        }
        finish()
        forgetEnding()
        controller.close()
      },
      cancel() {
        finish()
        forgetEnding()
      },
    },
    { highWaterMark: 0 },
  )
}
