import { describe, expect, it } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { createGroups } from './groups.ts'

/** Concurrency groups of a store that says whether anybody stands in one, and counts how often all of them are looked at. */
function quietGroups(empty: boolean | undefined) {
  const clock = fakeClock(0)
  let [sweeps, wakes] = [0, 0]
  const groups = createGroups({
    groups: {
      async look({ of }) {
        if (!of) sweeps++
        return { now: 0, groups: [], ...(of || empty === undefined ? {} : { empty }) }
      },
      async apply() {},
    },
    clock,
    pollMs: () => 5000,
    onMoved: () => {},
    wake: () => wakes++,
  })
  return { groups, clock, sweeps: () => sweeps, wakes: () => wakes }
}

describe('groups', () => {
  it.each([
    ['somebody stands in one', false],
    ['the store does not say', undefined],
  ])('are all looked at every second while %s', async (_, empty) => {
    expect(await quietGroups(empty).groups.pass()).toBe(1000)
  })

  it('are looked at rarely while they are empty', async () => {
    const { groups, clock, sweeps } = quietGroups(true)
    expect(await groups.pass()).toBe(5000)
    clock.moveBy(4999)
    expect({ inMs: await groups.pass(), sweeps: sweeps() }).toEqual({ inMs: 1, sweeps: 1 })
  })

  it('are looked at within a second when new runs are told of, and no more often than that', async () => {
    const { groups, clock, sweeps, wakes } = quietGroups(true)
    await groups.pass()
    clock.moveBy(400)
    groups.heard()
    groups.heard()
    expect(wakes()).toBe(1)
    expect(await groups.pass()).toBe(600)
    clock.moveBy(600)
    await groups.pass()
    expect(sweeps()).toBe(2)
  })
})
