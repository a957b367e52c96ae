import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { uuids } from './uuids.ts'

let client: pg.Client

beforeAll(async () => {
  client = new pg.Client({ connectionString: inject('postgres') })
  await client.connect()
})
afterAll(() => client.end())

const IDS = [
  '00000000-0000-0000-0000-000000000000',
  '01a1e4fe-d464-7003-8ebf-594a07e73a01',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
]

it.each([0, 1, 3])('sends a list of %i ids as bytes that the server reads as the same ids', async (length) => {
  const ids = IDS.slice(0, length)
  const { rows } = await client.query('select $1::uuid[]::text[] as ids', [uuids(ids)])
  expect(rows).toEqual([{ ids }])
})

it('reads large letters as small ones', () => {
  expect(uuids(IDS.map((id) => id.toUpperCase()))).toEqual(uuids(IDS))
})

it.each(['', 'no-id', IDS[1]!.replace('e', 'g'), `${IDS[1]!}0`, 'ℵ1a1e4fe-d464-7003-8ebf-594a07e73a01'])(
  'refuses a list with %j in it, and says so',
  (id) => expect(() => uuids([IDS[0]!, id])).toThrow(`among the ids of a list is one that is no UUID: ${id}`),
)
