/** The work of the example: five jobs, each of which shows one thing. */
import { defineJob } from 'everytick'
import { z } from 'zod'

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })

/** Quick, once a second. */
export const reportPresence = defineJob({ name: 'beat', run: () => {} })

/** Takes its time, and says how far it is. */
export const report = defineJob({
  name: 'report',
  async run(ctx) {
    for (const page of [1, 2, 3, 4]) {
      ctx.progress(page / 4, `page ${page} of 4`)
      await pause(500, ctx.signal)
    }
    return { pages: 4 }
  },
})

/** Fails at first; a later attempt succeeds. */
export const flaky = defineJob({
  name: 'flaky',
  retry: { attempts: 3, backoff: 'fixed', base: '500ms', max: '500ms' },
  run(ctx) {
    if (ctx.run.attempt === 1) throw new Error('the first attempt always fails here')
  },
})

/** Still going when the next occurrence comes, which is then skipped, and on record as such. */
export const slow = defineJob({ name: 'slow', run: (ctx) => pause(4500, ctx.signal) })

/** One schedule for each workspace, made over HTTP while the program runs. */
export const digest = defineJob({
  name: 'digest',
  payload: z.object({ account: z.string() }),
  run({ account }, ctx) {
    ctx.log.info(`digest for ${account}`)
  },
})
