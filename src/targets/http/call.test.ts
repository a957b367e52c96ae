/** A call whose answer does not end: what is taken of it, and when. What real endpoints do stands in `test/targets/http-hostile.test.ts`. */
import type { Dispatcher } from 'undici'
import { describe, expect, it } from 'vitest'
import { EverytickError } from '../../errors.ts'
import { call, REFUSAL_MS, type Way } from './call.ts'

const REQUEST = { url: new URL('https://example.com/'), method: 'POST', headers: [], body: null }

/** Answers with this status and some of a body, and says no more. */
function stage(status: number) {
  const alarms = new Map<() => void, number>()
  const timers = {
    set(ms: number, ring: () => void) {
      alarms.set(ring, ms)
      return () => void alarms.delete(ring)
    },
  }
  let hungUp = false
  const controller = {
    abort() {
      hungUp = true
    },
  } as unknown as Dispatcher.DispatchController
  const way: Way = {
    dispatch(_, handler) {
      handler.onRequestStart?.(controller, null)
      handler.onResponseStart?.(controller, status, { 'content-length': '100' })
      handler.onResponseData?.(controller, Buffer.from('half'))
      return true
    },
  }
  const stop = new AbortController()
  const heard = call(way, REQUEST, { signal: stop.signal, timers })
  return { alarms, heard, stop, hungUp: () => hungUp }
}

const timedOut = new EverytickError('RUN_TIMEOUT', 'it took too long')

describe('an answer that does not end', () => {
  it.each([302, 410, 422, 503])('is a %i after some seconds, with what was said so far', async (status) => {
    const { alarms, heard, hungUp } = stage(status)
    expect([...alarms.values()]).toEqual([REFUSAL_MS])
    for (const ring of alarms.keys()) ring()
    expect(await heard).toMatchObject({ status, body: Buffer.from('half'), truncated: true })
    expect([alarms.size, hungUp()]).toEqual([0, true])
  })

  it('is a refusal also when the time of the attempt is up before', async () => {
    const { alarms, heard, stop, hungUp } = stage(410)
    stop.abort(timedOut)
    expect(await heard).toMatchObject({ status: 410, truncated: true })
    expect([alarms.size, hungUp()]).toEqual([0, true])
  })

  it('is none when somebody else says stop', async () => {
    const { alarms, heard, stop, hungUp } = stage(410)
    stop.abort(new Error('cancelled'))
    await expect(heard).rejects.toThrow('cancelled')
    expect([alarms.size, hungUp()]).toEqual([0, true])
  })

  it('is no success, however long it is waited for', async () => {
    const { alarms, heard, stop } = stage(200)
    expect(alarms.size).toBe(0)
    stop.abort(timedOut)
    await expect(heard).rejects.toBe(timedOut)
  })
})
