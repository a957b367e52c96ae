/** A full disk of the database server, as callers over HTTP see it; the codes of drivers are tables beside each store. */
import pg from 'pg'
import { expect, it } from 'vitest'
import { defineJob, everytick } from '../../src/index.ts'
import { createServer } from '../../src/server/app.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'
import { askOf } from './stage.ts'

/** What Postgres itself throws when a file of a table cannot grow, at the insert of a run. */
const NO_SPACE = `
  create function no_space() returns trigger language plpgsql as $$ begin
    raise exception 'could not extend file "base/5/16401": No space left on device' using errcode = '53100';
  end $$;
  create trigger no_space before insert on everytick.runs for each row execute function no_space()`

it('answers 503 STORE_FULL while the disk of Postgres is full, still reads, and writes again when there is space', async () => {
  const database = await createReadyDatabase()
  const quiet = () => {}
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const job = defineJob({ name: 'plain', run: () => {} })
  const app = everytick({ store: database.url, jobs: [job], logger })
  const server = createServer(app, { backgroundTasks: false, authorize: () => ({ scope: 'admin', name: 'test' }) })
  const ask = askOf(server, {})
  const client = new pg.Client({ connectionString: database.url })
  try {
    const enqueue = () => ask('POST', '/runs', { body: { job: 'plain' } })
    expect((await enqueue()).status).toBe(201)
    await client.connect()
    await client.query(NO_SPACE)
    const { status, body, headers } = await enqueue()
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'STORE_FULL', '1'])
    expect(body.detail).toContain('No space left on device')
    await expect(app.enqueue(job)).rejects.toMatchObject({ name: 'EverytickError', code: 'STORE_FULL' })
    expect((await ask('GET', '/runs')).body.data).toHaveLength(1)
    await client.query('drop trigger no_space on everytick.runs')
    expect((await enqueue()).status).toBe(201)
  } finally {
    await client.end()
    await app.stop()
    await database.drop()
  }
})
