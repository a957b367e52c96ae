/** One who follows events over a real connection, as a browser would, and can be cut off at any moment. */
import { get } from 'node:http'

export interface Heard {
  readonly id: string | null
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: what an event says is checked by whoever follows.
  readonly data: any
}

export interface Following {
  readonly events: Heard[]
  /** As a browser keeps it; null before the first. */
  readonly lastEventId: string | null
  readonly comments: number
  /** Resolves when the server has answered. */
  readonly open: Promise<number>
  readonly over: Promise<void>
  readonly isOver: boolean
  cut(): void
}

export interface FollowOptions {
  readonly token?: string
  /** Instead of a token. */
  readonly cookie?: string
  readonly path?: string
  readonly lastEventId?: string | null
}

export function follow(url: string, { token, cookie, path = '/events', lastEventId = null }: FollowOptions): Following {
  const events: Heard[] = []
  const seen = { lastEventId, comments: 0, isOver: false }
  let text = ''
  const headers = {
    ...(cookie === undefined ? { authorization: `Bearer ${token}` } : { cookie }),
    accept: 'text/event-stream',
    ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
  }
  const request = get(`${url}/api/v1${path}`, { headers, agent: false })
  const take = (block: string): void => {
    const fields = block.split('\n').map((line) => /^(\w*): ?(.*)$/.exec(line) ?? ['', '', ''])
    const of = (name: string): string | undefined => fields.find(([, field]) => field === name)?.[2]
    seen.lastEventId = of('id') ?? seen.lastEventId
    if (block.startsWith(':') || block.includes('\n:')) seen.comments++
    const data = of('data')
    if (data !== undefined) events.push({ id: of('id') ?? null, type: of('event') ?? '', data: JSON.parse(data) })
  }
  const open = new Promise<number>((resolve) => {
    request.on('response', (response) => {
      resolve(response.statusCode ?? 0)
      response.setEncoding('utf8')
      response.on('error', () => {})
      response.on('data', (chunk: string) => {
        text += chunk
        const blocks = text.split('\n\n')
        text = blocks.pop()!
        for (const block of blocks) take(block)
      })
    })
    request.on('error', () => resolve(0))
  })
  const over = new Promise<void>((resolve) => {
    request.on('close', () => {
      seen.isOver = true
      resolve()
    })
  })
  return {
    events,
    ...{ open, over },
    cut: () => void request.destroy(),
    get lastEventId() {
      return seen.lastEventId
    },
    get comments() {
      return seen.comments
    },
    get isOver() {
      return seen.isOver
    },
  }
}
