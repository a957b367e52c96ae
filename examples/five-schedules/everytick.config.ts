/** What `npm start` runs: five schedules, four of them here in code and one made over HTTP. */
import { defineConfig, schedule } from 'everytick'
import { digest, flaky, report, reportPresence, slow } from './jobs.ts'

export default defineConfig({
  jobs: [reportPresence, report, flaky, slow, digest],
  schedules: [
    schedule({ key: 'beat', every: '1s', job: reportPresence, catchUp: 'all', catchUpLimit: 5000 }),
    schedule({ key: 'report', cron: '*/10 * * * * *', timezone: 'Europe/Berlin', job: report }),
    schedule({ key: 'flaky', every: '15s', job: flaky }),
    schedule({ key: 'slow', every: '3s', job: slow, overlap: 'skip' }),
  ],
})

/** `everytick dev` calls this when its REST interface answers. An app of yours would do the same when a customer signs up. */
export async function onReady({ url }: { url: string }): Promise<void> {
  const response = await fetch(`${url}/api/v1/schedules/by-key/acme/digest`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      cron: '*/7 * * * * *',
      timezone: 'America/New_York',
      job: 'digest',
      payload: { account: 'acme' },
    }),
  })
  if (!response.ok) throw new Error(`the schedule was not made: ${response.status} ${await response.text()}`)
}
