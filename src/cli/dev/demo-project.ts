/** The demo job that `dev` runs in a folder without jobs. */
import { defineJob, type Job } from '../../job.ts'
import { type DeclaredSchedule, schedule } from '../../schedule-definition.ts'

const hello = defineJob({
  name: 'hello',
  run(ctx) {
    ctx.log.info('hello from a job')
    return { said: 'hello' }
  },
})

export const DEMO: { readonly jobs: readonly Job[]; readonly schedules: readonly DeclaredSchedule[] } = {
  jobs: [hello],
  schedules: [
    schedule({ key: 'hello', every: '2s', job: hello, description: 'demo, runs while this project has no jobs' }),
  ],
}
