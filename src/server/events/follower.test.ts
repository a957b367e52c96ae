import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { eventOf, type LiveEvent, positionOf, resyncText } from './event.ts'
import { createFollower, MAX_WAITING } from './follower.ts'
import { eventStream } from './stream.ts'

const event = (id: number): LiveEvent =>
  eventOf({
    kind: 'audit',
    at: id,
    id: String(id),
    workspace: '',
    action: 'x',
    target: 'y',
    actor: 'z',
    seq: 1,
    hash: 'f',
  })
const events = (from: number, count: number): LiveEvent[] => Array.from({ length: count }, (_, i) => event(from + i))
const texts = (from: number, count: number): string =>
  events(from, count)
    .map(({ text }) => text)
    .join('')
const principal = { name: 'n', scope: 'admin', workspace: null, keyId: null } as const
const OPENING = 'retry: 2000\n\n'
const here = (at: number): string => `id: ${positionOf(at)}\n\n`

function stand() {
  const clock = fakeClock(0)
  const writes: string[] = []
  let ready = true
  let ended = 0
  let left = 0
  const follower = createFollower({
    ...{ principal, wish: { types: [], scheduleId: null }, timers: clock.timers },
    outlet: {
      ready: () => ready,
      write: (text) => void writes.push(text),
      end: () => void ended++,
    },
    onClose: () => void left++,
  })
  follower.pump()
  return {
    ...{ clock, writes, follower },
    reads(does: boolean) {
      ready = does
      if (does) follower.pump()
    },
    ends: () => [ended, left],
  }
}

describe('a follower', () => {
  it('sends what is gathered in a quarter of a second at once, and never more often', () => {
    const { clock, writes, follower } = stand()
    follower.begin([], 0)
    for (let i = 1; i <= 1000; i++) {
      follower.offer([event(i)])
      clock.moveBy(1)
    }
    expect(writes).toHaveLength(1 + 4)
    clock.moveBy(250)
    expect(writes.join('')).toBe(OPENING + here(0) + texts(1, 1000))
    clock.moveBy(1000)
    expect(clock.nextRingAt()).toBeNull()
  })

  it('tells what was missed before what happens, however they come, and nothing of it twice', () => {
    const { clock, writes, follower } = stand()
    follower.offer(events(3, 3))
    clock.moveBy(1000)
    expect(writes).toEqual([OPENING])
    follower.begin(events(1, 4), 4)
    follower.offer(events(4, 3).slice(2))
    clock.moveBy(250)
    expect(writes.join('')).toBe(OPENING + texts(1, 4) + here(4) + texts(5, 2))
  })

  it('is told to read again, and from where to go on, when it missed too much', () => {
    const { clock, writes, follower } = stand()
    follower.begin(null, 77)
    follower.offer([event(78)])
    clock.moveBy(250)
    expect(writes.join('')).toBe(OPENING + resyncText(77) + texts(78, 1))
  })

  it('is told so too when something could not be held back for it', () => {
    const { clock, writes, follower } = stand()
    follower.resync(5)
    follower.begin(events(1, 2), 4)
    clock.moveBy(250)
    expect(writes.join('')).toBe(OPENING + resyncText(4))
  })

  it('is told so when more comes at once than is worth telling', () => {
    const { clock, writes, follower } = stand()
    follower.begin([], 0)
    follower.offer(events(1, MAX_WAITING + 1))
    clock.moveBy(250)
    expect(writes.join('')).toBe(OPENING + resyncText(MAX_WAITING + 1))
  })

  it('hears up to when it was told everything, with every beat', () => {
    const { clock, writes, follower } = stand()
    follower.reportPresence(null)
    clock.moveBy(250)
    follower.begin([], 3)
    follower.reportPresence(9)
    clock.moveBy(250)
    expect(writes.slice(1)).toEqual([': beat\n\n', `${here(3)}id: ${positionOf(9)}\n: beat\n\n`])
  })

  it('is sent nothing while it does not read, and everything when it does again', () => {
    const { clock, writes, follower, reads } = stand()
    follower.begin([], 0)
    reads(false)
    follower.offer(events(1, 5))
    clock.moveBy(5000)
    follower.offer(events(6, 5))
    clock.moveBy(5000)
    expect(writes).toEqual([OPENING])
    reads(true)
    clock.moveBy(250)
    expect(writes.join('')).toBe(OPENING + here(0) + texts(1, 10))
  })

  it('is let go when it has not read from one beat to the next', () => {
    const { clock, follower, reads, ends } = stand()
    follower.begin([], 0)
    reads(false)
    follower.reportPresence(1)
    expect(ends()).toEqual([0, 0])
    reads(true)
    reads(false)
    follower.reportPresence(2)
    follower.reportPresence(3)
    expect(ends()).toEqual([1, 1])
    follower.close()
    follower.offer([event(1)])
    follower.reportPresence(4)
    expect(ends()).toEqual([1, 1])
    expect(clock.nextRingAt()).toBeNull()
  })

  it('is let go when more waits for it than is worth keeping', () => {
    const { clock, follower, reads, ends } = stand()
    follower.begin([], 0)
    reads(false)
    follower.offer([event(1)])
    clock.moveBy(250)
    follower.offer(events(2, MAX_WAITING + 1))
    expect(ends()).toEqual([1, 1])
  })
})

describe('the stream of a follower', () => {
  const open = () => {
    const clock = fakeClock(0)
    let follower: ReturnType<typeof createFollower> | undefined
    let left = 0
    const stream = eventStream((outlet) => {
      follower = createFollower({
        ...{
          principal,
          wish: { types: [], scheduleId: null },
          timers: clock.timers,
          outlet,
          onClose: () => void left++,
        },
      })
      return follower
    })
    return { clock, follower: follower!, reader: stream.getReader(), left: () => left }
  }
  const text = ({ value }: { value?: Uint8Array | undefined }): string => new TextDecoder().decode(value)

  it('holds one piece at a time for those who read slowly', async () => {
    const { clock, follower, reader } = open()
    expect(text(await reader.read())).toBe(OPENING)
    follower.begin(events(1, 5000), 5000)
    clock.moveBy(250)
    const whole = texts(1, 5000) + here(5000)
    let got = ''
    while (got.length < whole.length) {
      const piece = text(await reader.read())
      expect(piece.length).toBeLessThan(70_000)
      got += piece
    }
    expect(got).toBe(whole)
  })

  it('ends for those who read, and breaks off for those who do not', async () => {
    const [reading, sleeping] = [open(), open()]
    await reading.reader.read()
    const next = reading.reader.read()
    await new Promise(setImmediate)
    reading.follower.close()
    expect(await next).toEqual({ done: true, value: undefined })
    sleeping.follower.close()
    await expect(sleeping.reader.read()).rejects.toThrow('does not read')
  })

  it('lets the follower go when the other end goes', async () => {
    const { reader, left, clock, follower } = open()
    follower.begin([], 0)
    await reader.cancel()
    expect(left()).toBe(1)
    expect(clock.nextRingAt()).toBeNull()
  })
})
