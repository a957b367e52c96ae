import { expect, it } from 'vitest'
import { definitionOf, putOf } from '../../testing/conformance/samples.ts'
import type { PutSchedule } from '../contract/schedules.ts'
import { putValues } from './put-list.ts'

/** The lists by the places in which they travel. */
const listsOf = (puts: readonly PutSchedule[]) => {
  const values = putValues(puts.map((put, n) => ({ n, put })))
  return {
    timed: values[4],
    kind: values[5],
    payloads: values[7],
    timings: values[9],
    watermarks: values[10],
    jobs: values[12],
  }
}
const cron = (text: string) => ({ timing: { kind: 'cron', cron: text, timezone: 'UTC' } }) as const

it('sends equal timings once, be they the same object or not', () => {
  const puts = ['1 * * * *', '2 * * * *', '1 * * * *'].map((text) => putOf(definitionOf(cron(text))))
  const { timed, timings } = listsOf([...puts, puts[1]!])
  expect(timed).toBe('{0,1,0,1}')
  expect(JSON.parse(`[${String(timings).slice(1, -1)}]`).map(JSON.parse)).toEqual([
    puts[0]!.definition.timing,
    puts[1]!.definition.timing,
  ])
})

it('tells one timing that begins at two instants apart', () => {
  const definition = definitionOf(cron('1 * * * *'))
  const { timed, watermarks } = listsOf([1, 2, 1].map((watermarkAt) => putOf(definition, { watermarkAt })))
  expect({ timed, watermarks }).toEqual({ timed: '{0,1,0}', watermarks: '{1,2}' })
})

it('sends each of many kinds once, also those beyond the first glance', () => {
  const jobs = Array.from({ length: 12 }, (_, i) => `job-${i}`)
  const puts = [...jobs, ...jobs].map((job) => putOf(definitionOf({ job })))
  const { kind, jobs: sent } = listsOf(puts)
  const places = jobs.map((_, i) => i).join()
  expect(kind).toBe(`{${places},${places}}`)
  expect(sent).toBe(`{${jobs.map((job) => `"${job}"`).join()}}`)
})

it('tells kinds apart by who asks and by what was seen', () => {
  const definition = definitionOf()
  const puts = [putOf(definition), putOf(definition, { by: 'bo' }), putOf(definition, { from: 3 }), putOf(definition)]
  expect(listsOf(puts).kind).toBe('{0,1,2,0}')
})

it('says nothing where there is no payload', () => {
  const puts = [null, 'null', [null]].map((payload) => putOf(definitionOf({ payload })))
  expect(listsOf(puts).payloads).toBe(String.raw`{NULL,"\"null\"","[null]"}`)
})
