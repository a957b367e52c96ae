import { describe, expect, it } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { createLanes } from './lanes.ts'

/** Lanes of a store that says whether anybody stands in one, and counts how often all of them are looked at. */
function quietLanes(empty: boolean | undefined) {
  const clock = fakeClock(0)
  let [sweeps, wakes] = [0, 0]
  const lanes = createLanes({
    lanes: {
      async look({ of }) {
        if (!of) sweeps++
        return { now: 0, lanes: [], ...(of || empty === undefined ? {} : { empty }) }
      },
      async apply() {},
    },
    clock,
    pollMs: () => 5000,
    onMoved: () => {},
    wake: () => wakes++,
  })
  return { lanes, clock, sweeps: () => sweeps, wakes: () => wakes }
}

describe('lanes', () => {
  it.each([
    ['somebody stands in one', false],
    ['the store does not say', undefined],
  ])('are all looked at every second while %s', async (_, empty) => {
    expect(await quietLanes(empty).lanes.pass()).toBe(1000)
  })

  it('are looked at rarely while they are empty', async () => {
    const { lanes, clock, sweeps } = quietLanes(true)
    expect(await lanes.pass()).toBe(5000)
    clock.moveBy(4999)
    expect({ inMs: await lanes.pass(), sweeps: sweeps() }).toEqual({ inMs: 1, sweeps: 1 })
  })

  it('are looked at within a second when new runs are told of, and no more often than that', async () => {
    const { lanes, clock, sweeps, wakes } = quietLanes(true)
    await lanes.pass()
    clock.moveBy(400)
    lanes.heard()
    lanes.heard()
    expect(wakes()).toBe(1)
    expect(await lanes.pass()).toBe(600)
    clock.moveBy(600)
    await lanes.pass()
    expect(sweeps()).toBe(2)
  })
})
