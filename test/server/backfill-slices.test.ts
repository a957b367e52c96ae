/** Backfills of one workspace, however many, do not keep those of another from going on. */
import { expect, it } from 'vitest'
import { openStage, STORES } from './stage.ts'

it.each(STORES)(
  'an older backfill of another workspace goes on behind 130 that cannot, on %s',
  async (store) => {
    await using stage = await openStage(store)
    const { app } = stage
    for (const workspace of ['victim', 'crowd'])
      await app.schedules.upsert({ key: 'filled', workspace, cron: '0 * * * *', job: 'plain', paused: true } as never)
    const { schedules, backfills, now } = await stage.server.parts.core.store()
    const untilAt = await now()
    const fill = async (workspace: string): Promise<string> => {
      const schedule = (await schedules.get(workspace, 'filled'))!
      const id = stage.server.parts.core.newId()
      const span = {
        fromAt: untilAt - 86_400_000,
        toAt: untilAt,
        total: 24,
        concurrency: 1,
        force: true,
        payload: null,
      }
      await backfills.create({ id, scheduleId: schedule.id, workspace, key: 'filled', by: 'test', ...span })
      return id
    }
    const victim = await fill('victim')
    for (let i = 0; i < 130; i++) await fill('crowd')
    const { app: planner } = await stage.another()
    await planner.start({ role: 'scheduler' })
    const goesOn = async () => {
      const found = (await backfills.get(victim))!
      return found.open.length > 0
    }
    // No worker is there: a run that was made stays open.
    await expect.poll(goesOn, { timeout: 20_000, interval: 50 }).toBe(true)
  },
  60_000,
)
