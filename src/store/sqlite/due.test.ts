import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../time/clock.ts'
import { type Connection, connect } from './connection.ts'
import { dueOn } from './due.ts'
import { prepareSchema } from './schema.ts'

const NOW = 1_000_000
const clock = { ...systemClock, now: () => NOW }
const PAGE = { lookaheadMs: 60_000, limit: 3 }

let connection: Connection
let due: ReturnType<typeof dueOn>

beforeEach(async () => {
  connection = await connect({ path: ':memory:', busyTimeoutMs: 0 })
  await prepareSchema(connection, { name: 'memory', address: '', migrate: true, clock })
  due = dueOn(connection, clock)
})

afterEach(() => connection.close())

function add(id: string, nextAt: number): void {
  connection.run(
    `insert into everytick_schedules (id, workspace, key, revision, timing, job, queue, payload, priority, policy, catch_up,
      description, tags, metadata, source, created_at, updated_at, firing, created_by, updated_by, since_at)
     values (?, 'w', ?, 1, '{}', 'j', 'q', '{}', 5, '{}', '{}', '', '[]', '{}', 'api', 0, 0, '{}', 'api', 'api', 0)`,
    ...[id, id],
  )
  const text = `insert into everytick_cursors (schedule_id, next_at, watermark_at, revision) values (?, ?, 0, 1)`
  connection.run(text, id, nextAt)
}

/** As a plan would. */
const moveOn = (id: string): number =>
  connection.run('update everytick_cursors set next_at = ? where schedule_id = ?', NOW + 1e9, id)

async function page(): Promise<string[]> {
  const { schedules } = await due(PAGE)
  const ids = schedules.map(({ id }) => id)
  for (const id of ids) moveOn(id)
  return ids
}

/** Alternately early and late, so that neighbours by id are none by instant. */
const crowd = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => {
    const id = `s${String(i).padStart(2, '0')}`
    add(id, NOW + 10_000 + (i % 2) * 10_000 + i)
    return id
  })

it('hands out a crowd by neighbours, each of them once', async () => {
  const ids = crowd(12)
  const pages = [await page(), await page(), await page(), await page(), await page()]
  expect(pages[0]).toEqual(['s00', 's02', 's04'])
  expect(pages[1]).toEqual(['s01', 's03', 's05'])
  expect(pages.flat().sort()).toEqual(ids)
  expect(pages[4]).toEqual([])
})

it('hands out by neighbours a crowd that it took several looks to find', async () => {
  const ids = crowd(60)
  const pages: string[][] = []
  for (let next = await page(); next.length > 0; next = await page()) pages.push(next)
  // Of these, s07 is not among the nearest that one look finds.
  expect(pages[2]).toEqual(['s06', 's08', 's07'])
  expect(pages.flat().sort()).toEqual(ids)
})

it('lets nothing that is due soon wait for a crowd', async () => {
  crowd(30)
  await page()
  await page()
  add('s99', NOW + 1000)
  expect(await page()).toContain('s99')
})

it('hands out nothing of a crowd that somebody else planned meanwhile, and still a full page', async () => {
  crowd(12)
  await page()
  await page()
  for (const id of ['s06', 's07', 's08']) moveOn(id)
  expect(await page()).toEqual(['s10', 's09', 's11'])
})

it('passes over those it is told to, though a crowd stands in line', async () => {
  crowd(12)
  await page()
  const { schedules } = await due({ ...PAGE, except: ['s01', 's05', 's06'] })
  expect(schedules.map(({ id }) => id)).toEqual(['s08', 's03', 's07'])
})
