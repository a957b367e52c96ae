/** Seats: never more than there may be, in the order of arrival, and none lost. */
import { describe, expect, it } from 'vitest'
import { admitNext, createSemaphore, leftOf, MAX_OVERTAKEN, type Semaphore } from './semaphore.ts'

const never = new AbortController().signal

/** Takes a seat, and says so when it has one. */
function visitors(semaphore: Semaphore) {
  const seated: string[] = []
  const come = (name: string, max: number, signal: AbortSignal = never): Promise<void> =>
    semaphore.take(max, signal).then(
      () => void seated.push(name),
      (reason: unknown) => void seated.push(`${name} left: ${String(reason)}`),
    )
  return { seated, come }
}

describe('seats', () => {
  it('are given in the order in which they were asked for', async () => {
    const semaphore = createSemaphore()
    const { seated, come } = visitors(semaphore)
    const all = ['a', 'b', 'c', 'd'].map((name) => come(name, 2))
    await Promise.all(all.slice(0, 2))
    expect(seated).toEqual(['a', 'b'])
    semaphore.give()
    await all[2]
    expect(seated).toEqual(['a', 'b', 'c'])
    semaphore.give()
    await all[3]
    semaphore.give()
    semaphore.give()
    expect(semaphore.isEmpty).toBe(true)
  })

  it('are not waited for by those who were told to stop', async () => {
    const semaphore = createSemaphore()
    const { seated, come } = visitors(semaphore)
    const stop = new AbortController()
    await come('a', 1)
    const [b, c] = [come('b', 1, stop.signal), come('c', 1)]
    stop.abort('cancelled')
    await b
    semaphore.give()
    await c
    expect(seated).toEqual(['a', 'b left: cancelled', 'c'])
    await come('late', 1, stop.signal)
    semaphore.give()
    expect(semaphore.isEmpty).toBe(true)
  })

  it('are not kept from others by one that asks for more room than there is', async () => {
    const semaphore = createSemaphore()
    const { seated, come } = visitors(semaphore)
    await come('a', 5)
    const alone = come('alone', 1)
    await come('wide', 5)
    expect(seated).toEqual(['a', 'wide'])
    semaphore.give()
    semaphore.give()
    await alone
    expect(seated).toEqual(['a', 'wide', 'alone'])
  })

  it('are held for one that let many go first, and go to those behind when it gives up', async () => {
    const semaphore = createSemaphore()
    const { seated, come } = visitors(semaphore)
    const stop = new AbortController()
    await come('first', 5)
    const alone = come('alone', 1, stop.signal)
    for (let i = 0; i < MAX_OVERTAKEN; i++) {
      await come('quick', 5)
      semaphore.give()
    }
    const last = come('last', 5)
    await new Promise((resolve) => setImmediate(resolve))
    expect(seated).not.toContain('last')
    stop.abort('cancelled')
    await Promise.all([alone, last])
    expect(seated.slice(-2).toSorted()).toEqual(['alone left: cancelled', 'last'])
  })
})

describe('of those in line', () => {
  const one = (max: number, overtaken = 0) => ({ max, overtaken })
  const patient = one(1, MAX_OVERTAKEN - 2)
  const impatient = one(1, MAX_OVERTAKEN)

  it.each([
    ['nobody where nobody waits', [], 0, [], []],
    ['as many as there is room for', [one(2), one(2), one(2)], 0, [0, 1], [0]],
    ['nobody when it is full', [one(2), one(2)], 2, [], [0, 0]],
    ['those behind one that does not fit', [one(1), one(5), one(5)], 3, [1, 2], [2]],
    ['the next that fits, again and again', [one(1), one(3), one(2), one(3)], 2, [1], [1, 0, 0]],
    ['only as many as may still go first', [patient, one(9), one(9), one(9)], 3, [1, 2], [MAX_OVERTAKEN, 0]],
    ['nobody behind one that let enough go first', [impatient, one(9)], 3, [], [MAX_OVERTAKEN, 0]],
    ['that one, when the others have gone, and those behind', [impatient, one(9)], 0, [0, 1], []],
    ['those before one that let enough go first', [one(9), impatient, one(9)], 3, [0], [MAX_OVERTAKEN, 0]],
  ] as const)('sit down: %s', (_, line, taken, seated, overtaken) => {
    expect(admitNext(line, taken)).toEqual(seated)
    expect(leftOf(line, seated).map((left) => left.overtaken)).toEqual(overtaken)
  })
})
