/** `everytick runs logs`: prints the log of a run, and with -f follows it until the run ends. */
import type { Backend } from '../backend.ts'
import type { CommandContext } from '../command-context.ts'
import { errorRows } from '../error-text.ts'
import { findId } from '../find-id.ts'
import { distanceText } from '../instant-text.ts'
import { RUNS } from '../kinds.ts'
import { jsonText, printable, type View } from '../print.ts'
import { badAnswer, readText } from '../server-answer.ts'
import { patient, pause } from '../watch.ts'
import type { RunBody } from './runs.ts'

export interface LogOptions {
  readonly follow?: boolean
  readonly json?: boolean | string
}

interface LogLine {
  readonly seq: number
  readonly at: string
  readonly attempt: number
  readonly level: string
  readonly message: string
  readonly data: unknown
}

const PAGE = 1000
/** Many times the maximum length of a log line. */
const MAX_EVENT = 1024 * 1024

/** Writes lines as they arrive. */
export async function runLogs({ backend, io, view }: CommandContext, id: string, options: LogOptions): Promise<string> {
  const run = `/runs/${await findId(backend, RUNS, id)}`
  const path = `${run}/logs`
  const lines = options.follow ? followed(backend, path) : stored(backend, path)
  let isSilent = true
  for await (const line of lines) {
    isSilent = false
    io.write(options.json ? `${jsonText(line)}\n` : lineText(line, view))
  }
  if (isSilent) io.note('this run has no log lines\n')
  if (!options.json)
    for (const line of endLines(await backend.ask<RunBody>('GET', run))) io.note(`  ${printable(line)}\n`)
  return ''
}

/** The outcome of the last attempt, or that it has not ended. */
export function endLines(run: Ended): string[] {
  const { state, attempt, maxAttempts, startedAt, finishedAt, dueAt, error } = run
  const of = `attempt ${attempt} of ${maxAttempts}`
  const why = error === null ? [] : errorRows(error).map(([, text]) => text)
  if (state === 'running') return [`still running: ${of}`]
  if (state === 'pending')
    return attempt === 0 ? [`not started yet; due ${dueAt}`] : [`${of} failed; the next is due ${dueAt}`, ...why]
  const took =
    startedAt === null || finishedAt === null
      ? ''
      : ` after ${distanceText(Date.parse(finishedAt) - Date.parse(startedAt))}`
  return [`${state}${took}: ${of}`, ...why]
}

type Ended = Pick<RunBody, 'state' | 'attempt' | 'maxAttempts' | 'startedAt' | 'finishedAt' | 'dueAt' | 'error'>

export function lineText({ at, level, attempt, message, data }: LogLine, view: View): string {
  const more = data === null || data === undefined ? '' : jsonText(data)
  if (!view.terminal) return `${[...[at, level, String(attempt), message].map(printable), more].join('\t')}\n`
  const { dim, red, yellow } = view.colours
  const shade = level === 'error' ? red : level === 'warn' ? yellow : (text: string) => text
  const head = dim(printable(`${at.slice(11, 23)} #${attempt}`))
  return `  ${head} ${shade(printable(level).padEnd(5))} ${printable(message)}${more === '' ? '' : ` ${dim(more)}`}\n`
}

async function* stored(backend: Backend, path: string): AsyncGenerator<LogLine> {
  for (let after = 0, isMore = true; isMore; ) {
    const text = await readText(await backend.fetch('GET', path, { query: { after, limit: PAGE } }))
    const page = text.split('\n').filter((line) => line !== '')
    for (const line of page) {
      const read = readLine(line, after)
      after = read.seq
      yield read
    }
    // A page may be short, because the server limits the size of a response.
    isMore = page.length > 0
  }
}

/** Reconnects if the connection ends before the run does, and continues after the last line received. */
async function* followed(backend: Backend, path: string): AsyncGenerator<LogLine> {
  const patience = patient()
  for (let after = 0; ; await pause()) {
    const headers = { accept: 'text/event-stream' }
    const answer = await backend.fetch('GET', path, { query: { after }, headers }).catch(patience.bear)
    if (!answer?.body) continue
    let isSilent = true
    for await (const { event, data } of eventsOf(answer.body)) {
      isSilent = false
      patience.renew()
      if (event === 'end') return
      if (event !== 'log') continue
      const line = readLine(data, after)
      after = line.seq
      yield line
    }
    // Give up on a server that repeatedly closes the stream at once.
    if (isSilent) patience.bear(badAnswer('closes every stream at once'))
  }
}

/** Checks that lines come in order, so that the next page cannot repeat this one. */
function readLine(text: string, after: number): LogLine {
  let line: LogLine | null = null
  try {
    line = JSON.parse(text) as LogLine | null
  } catch {
    // Rejected below.
  }
  const isLine =
    Number.isSafeInteger(line?.seq) && line!.seq > after && [line!.at, line!.message, line!.level].every(isText)
  if (!isLine) throw badAnswer('returned something other than a log line')
  return line!
}

const isText = (value: unknown): boolean => typeof value === 'string'

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; data: string }> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  for (let rest = ''; ; ) {
    // Treat a broken connection as the end of the stream: the caller reconnects.
    const { value } = await reader.read().catch(() => ({ value: undefined }))
    if (value === undefined) return
    rest += decoder.decode(value, { stream: true })
    if (rest.length > MAX_EVENT) {
      void reader.cancel().catch(() => {})
      throw badAnswer('sent an event that does not end')
    }
    const blocks = rest.split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) yield { event: fieldOf(block, 'event'), data: fieldOf(block, 'data') }
  }
}

const fieldOf = (block: string, name: string): string =>
  block
    .split('\n')
    .find((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2) ?? ''
