import { expect, it } from 'vitest'
import { interruptionOf } from './interruption.ts'

const thrower = { id: 'r1', job: 'report', attempt: 2 }
const error = Object.assign(new TypeError('rate is undefined'), { code: 'NO_RATE' })

it('fails the run that threw with the error itself, and marks it as uncaught unless the error has a code', () => {
  const { name, message, stack } = error
  expect(interruptionOf({ error, thrower }, { id: 'r1' }).outcome).toEqual({
    kind: 'threw',
    error: { name, message, stack, code: 'NO_RATE' },
  })
  expect(interruptionOf({ error: new Error('plain'), thrower }, { id: 'r1' }).outcome).toMatchObject({
    error: { message: 'plain', code: 'UNCAUGHT_ERROR' },
  })
  expect(interruptionOf({ error: 'only text', thrower }, { id: 'r1' }).outcome).toEqual({
    kind: 'threw',
    error: { name: 'NonError', message: 'only text', code: 'UNCAUGHT_ERROR' },
  })
})

it('interrupts every other run, and names the one that threw', () => {
  const { outcome, reason } = interruptionOf({ error, thrower }, { id: 'r2' })
  const message = 'an uncaught error ends the worker process; run r1 of job "report" threw it'
  expect(outcome).toEqual({
    kind: 'interrupted',
    error: { name: 'EverytickError', message, code: 'UNCAUGHT_ERROR' },
    isByAnother: true,
  })
  expect(reason).toMatchObject({ code: 'UNCAUGHT_ERROR', message, cause: error })
})

it('clears no run while it is not known which threw', () => {
  expect(interruptionOf({ error, thrower: null }, { id: 'r1' }).outcome).toMatchObject({
    kind: 'interrupted',
    error: { message: expect.stringContaining('which run threw it is not known') },
    isByAnother: false,
  })
})
