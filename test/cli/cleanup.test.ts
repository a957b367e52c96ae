/** `everytick cleanup`, by the built program: counted first, never without being told to, and by the retention that the project has. */
import { beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_RETRY } from '../../src/run/retry.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import { ensureBuilt } from '../built-package.ts'
import { BACKENDS, openSite, type Site } from './deploying.ts'

beforeAll(ensureBuilt)

/** A cancelled run, made with an idempotency key, both of now. */
async function cancelled({ app }: Site): Promise<string> {
  const store = await coreOf(app).store()
  const policy = { retry: DEFAULT_RETRY }
  const id = coreOf(app).newId()
  await store.runs.enqueue([
    {
      ...{
        id,
        workspace: 'default',
        job: 'j',
        queue: 'default',
        trigger: 'enqueue',
        priority: 5,
        payload: null,
        policy,
      },
      ...{ schedule: null, slot: null, group: null, overlap: 'allow', due: { delayMs: 3_600_000 }, idempotencyKey: id },
    },
  ])
  await store.runs.cancel(id, 'ana')
  return id
}

describe.each(BACKENDS)('everytick cleanup on %s', (backend) => {
  it('says how much it would remove, removes nothing without a yes, and then that much', async () => {
    await using site = await openSite(backend)
    await cancelled(site)
    const args = ['cleanup', ...site.where, '--idempotency', '0s']
    const dry = await site.run([...args, '--dry-run', '--json'])
    expect(JSON.parse(dry.out)).toMatchObject({
      ...{ dryRun: true, removed: 1, counts: { idempotencyKeys: 1 } },
      retention: { history: '30d', idempotency: '0s' },
    })
    const unsure = await site.run(args)
    expect([unsure.code, unsure.err]).toEqual([2, expect.stringContaining('--yes')])
    expect(JSON.parse((await site.run([...args, '--dry-run', '--json'])).out)).toMatchObject({ removed: 1 })
    const done = await site.run([...args, '--yes'])
    expect(done).toMatchObject({ code: 0, out: 'idempotencyKeys\t1\n' })
    expect(JSON.parse((await site.run([...args, '--yes', '--json'])).out)).toMatchObject({ removed: 0, more: false })
    const audit = await site.run(['audit-log', ...site.where, '--json'])
    expect(audit.out.match(/cleanup\.run/g)).toHaveLength(1)
  })
})

it('keeps on a database what the configuration in the folder keeps', async () => {
  await using site = await openSite('sqlite')
  const id = await cancelled(site)
  const retention = { history: '90d', journal: '60d' }
  site.write('everytick.config.json', JSON.stringify({ store: site.address, retention }))
  const shown = JSON.parse((await site.run(['cleanup', '--dry-run', '--json'])).out)
  expect(shown.retention).toMatchObject({ ...retention, idempotency: '1d' })
  expect(await site.run(['cleanup', '--history', 'soon', '--yes'])).toMatchObject({ code: 2 })
  expect((await site.app.runs.get(id))?.state).toBe('cancelled')
})
