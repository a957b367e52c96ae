import { expect, it } from 'vitest'
import { uncaughtText } from './uncaught-text.ts'

const error = Object.assign(new TypeError('rate is undefined'), {
  stack:
    'TypeError: rate is undefined\n    at tick (/app/jobs.ts:7:3)\n    at listOnTimeout (node:internal/timers:581:17)',
})
const name = { id: 'r1', job: 'report' }
const thrower = { ...name, attempt: 2 }
const hint = '  Await the promise in the handler, or catch the error where it is thrown.\n'
const what = `UNCAUGHT_ERROR: this process ends, because no code caught TypeError: rate is undefined
    at tick (/app/jobs.ts:7:3)
    (1 frame of packages and Node)
`
const causes = 'a timer or an event listener that throws, or a promise without await and catch.'

it('names the run that threw and what becomes of the others', () => {
  expect(uncaughtText({ error, thrower }, { name, inProgress: 3 })).toBe(`${what}\
  Run r1 of job "report" threw it, outside of what its handler awaits: ${causes}
  Its attempt 2 failed with it. 2 other runs go back to the queue.
${hint}`)
  expect(uncaughtText({ error, thrower }, { name, inProgress: 1 })).toContain('No other run is in progress.')
})

it('names a run that has ended, and else the usual causes', () => {
  expect(uncaughtText({ error, thrower: null }, { name, inProgress: 1 })).toBe(`${what}\
  Run r1 of job "report", which has ended, left behind what threw it: ${causes}
  1 run goes back to the queue.
${hint}`)
  expect(uncaughtText({ error, thrower: null }, { name: null, inProgress: 0 })).toBe(`${what}\
  Which run threw it is not known. The usual cause is ${causes}
  No run is in progress.
${hint}`)
})

it('shows all lines of a message, and nothing that a terminal obeys', () => {
  const text = uncaughtText(
    { error: new Error('first\n\u001b[2Jsecond'), thrower: null },
    { name: null, inProgress: 0 },
  )
  expect(text).toContain('no code caught Error: first\n  \\u{1b}[2Jsecond\n')
})
