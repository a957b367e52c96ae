/** Turns what a process prints into lines for the log, within a bound, and keeps the end of it; it never holds more than that, however much comes. */

export type Stream = 'stdout' | 'stderr'

export interface Output {
  push(stream: Stream, chunk: Buffer): void
  /** Nothing more comes: what stands on unfinished lines is said, and how much was left out. */
  end(): void
  /** The last of what came. */
  tail(stream: Stream): string
}

export interface OutputOptions {
  /** How many bytes are said, of both streams together. */
  readonly maxBytes: number
  readonly say: (stream: Stream, line: string) => void
}

/** Fewer than the log of an attempt takes, so that what is said here of the rest finds room too. */
const MAX_LINES = 1900
const MAX_LINE_BYTES = 4096
/** Two of them, as JSON with every character escaped, fit into what is stored of an error. */
const TAIL_BYTES = 3584
const NEWLINE = 0x0a

export function createOutput({ maxBytes, say }: OutputOptions): Output {
  let [lines, bytes, left] = [0, 0, 0]
  const take = (stream: Stream, { text, size }: Line): void => {
    if (lines >= MAX_LINES || bytes + size > maxBytes) {
      left += size
      // Nothing after a gap: what is said is the beginning, and the tail is the end.
      lines = MAX_LINES
      return
    }
    bytes += size
    if (text === '') return
    lines++
    say(stream, text)
  }
  const streams = { stdout: createStream(), stderr: createStream() }
  return {
    push(stream, chunk) {
      const { cut, keepTail } = streams[stream]
      keepTail(chunk)
      if (lines < MAX_LINES) for (const line of cut(chunk)) take(stream, line)
      else left += chunk.length
    },
    end() {
      for (const stream of ['stdout', 'stderr'] as const) {
        const line = streams[stream].rest()
        if (line) take(stream, line)
      }
      if (left > 0) say('stderr', `${left} more bytes of output were left out`)
    },
    tail: (stream) => streams[stream].tail(),
  }
}

interface Line {
  readonly text: string
  /** How many bytes came for it. */
  readonly size: number
}

function createStream() {
  let leased: Buffer[] = []
  let [kept, size] = [0, 0]
  let end: Buffer = Buffer.alloc(0)
  let isCut = false

  const hold = (part: Buffer): void => {
    const room = part.subarray(0, Math.max(0, MAX_LINE_BYTES - kept))
    // A copy: a few bytes should not keep the whole chunk alive.
    if (room.length > 0) leased.push(Buffer.from(room))
    kept += room.length
    size += part.length
  }
  const release = (): Line => {
    const text = lineText(Buffer.concat(leased), size > kept)
    const line = { text, size: size + 1 }
    leased = []
    kept = 0
    size = 0
    return line
  }

  return {
    *cut(chunk: Buffer): Generator<Line> {
      let from = 0
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        hold(chunk.subarray(from, at))
        yield release()
        from = at + 1
      }
      if (from < chunk.length) hold(chunk.subarray(from))
    },
    rest: (): Line | null => (size > 0 ? release() : null),
    keepTail(chunk: Buffer): void {
      isCut ||= end.length + chunk.length > TAIL_BYTES
      end = Buffer.concat([end, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES)
    },
    tail(): string {
      const text = end.toString('utf8')
      const whole = isCut && text.includes('\n') ? text.slice(text.indexOf('\n') + 1) : text
      return lastBytes(whole.split('\n').map(shownLine).join('\n').trimEnd())
    },
  }
}

/** Codes take more room than the characters they stand for. */
const lastBytes = (text: string): string =>
  Buffer.byteLength(text) <= TAIL_BYTES
    ? text
    : Buffer.from(text)
        .subarray(-TAIL_BYTES)
        .toString('utf8')
        .replace(/^\ufffd{1,3}/, '')

const lineText = (bytes: Buffer, isCut: boolean): string => `${shownLine(bytes.toString('utf8'))}${isCut ? '…' : ''}`

/** Colours and movements of a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g
/** What a reader of the log should not be at the mercy of; a tab is only wide. */
const CONTROLS = /(?!\t)\p{Cc}/gu

/** As a terminal would leave it: a progress bar that writes over itself is its last state. */
function shownLine(line: string): string {
  const ended = line.endsWith('\r') ? line.slice(0, -1) : line
  return ended
    .slice(ended.lastIndexOf('\r') + 1)
    .replaceAll(ESCAPES, '')
    .replaceAll(CONTROLS, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
