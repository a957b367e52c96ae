import { expect, it } from 'vitest'
import { shareResource } from './shared-resource.ts'

/** Rings when told to. */
function bells() {
  const set = new Set<() => void>()
  return {
    timers: {
      set(_ms: number, ring: () => void) {
        set.add(ring)
        return () => set.delete(ring)
      },
    },
    ring() {
      for (const bell of set) bell()
      set.clear()
    },
  }
}

function lamp() {
  const seen: string[] = []
  const { timers, ring } = bells()
  let faults = 0
  const borrow = shareResource({
    async open() {
      if (faults-- > 0) throw new Error('no oil')
      seen.push('opened')
      return 'lamp'
    },
    async close() {
      seen.push('closed')
    },
    idleMs: 2000,
    timers,
  })
  return { borrow, seen, ring, fail: () => (faults = 1) }
}

it('opens once for all who ask at the same time, and closes when nobody has asked for a while', async () => {
  const { borrow, seen, ring } = lamp()
  expect(await Promise.all([borrow(async (it) => it), borrow(async (it) => it)])).toEqual(['lamp', 'lamp'])
  expect(seen).toEqual(['opened'])
  ring()
  await Promise.resolve()
  expect(seen).toEqual(['opened', 'closed'])
})

it('stays open while somebody has it, and for the next who asks in time', async () => {
  const { borrow, seen, ring } = lamp()
  await borrow(async () => {})
  let done = (): void => {}
  const long = borrow(() => new Promise<void>((resolve) => (done = resolve)))
  await borrow(async () => {})
  ring()
  expect(seen).toEqual(['opened'])
  done()
  await long
  expect(seen).toEqual(['opened'])
})

it('opens again after it was closed, and after it could not be opened', async () => {
  const { borrow, seen, ring, fail } = lamp()
  await borrow(async () => {})
  ring()
  fail()
  await expect(borrow(async () => {})).rejects.toThrow('no oil')
  await borrow(async () => {})
  expect(seen).toEqual(['opened', 'closed', 'opened'])
})

it('is given back by work that throws', async () => {
  const { borrow, seen, ring } = lamp()
  await expect(borrow(() => Promise.reject(new Error('fell over')))).rejects.toThrow('fell over')
  ring()
  await Promise.resolve()
  expect(seen).toEqual(['opened', 'closed'])
})
