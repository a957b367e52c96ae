import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { instants, integers, places, uuids, words } from './bytes.ts'

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

const asTexts = async (type: string, list: Buffer): Promise<(string | null)[]> =>
  (await client.query(`select $1::${type}[]::text[] as texts`, [list])).rows[0].texts

it('sends instants of any year to the millisecond, and the lack of one', async () => {
  const years = ['1969-12-31T23:59:59.999Z', '1999-12-31T23:59:59.999Z', '2000-01-01T00:00:00.000Z']
  const later = ['2026-11-16T02:30:00.123Z', '2255-06-05T23:47:34.741Z', '9999-12-31T23:59:59.999Z']
  const list = [...years, ...later].map((text) => Date.parse(text))
  const { rows } = await client.query(
    `select array(select round(date_part('epoch', at) * 1000) from unnest($1::timestamptz[]) at) as ms`,
    [instants([null, ...list, null])],
  )
  expect(rows[0].ms).toEqual([null, ...list, null])
  // A double cannot tell what a wrong microsecond would be.
  expect(await asTexts('timestamptz', instants(list))).toEqual(
    (await client.query('select $1::timestamptz[]::text[] as texts', [[...years, ...later]])).rows[0].texts,
  )
})

it('sends whole numbers and words', async () => {
  expect(await asTexts('int', integers([0, -1, 2 ** 31 - 1]))).toEqual(['0', '-1', '2147483647'])
  expect(await asTexts('text', words(['skip', '', 'größer']))).toEqual(['skip', '', 'größer'])
})

it('sends the places of two rows each, and the lack of one', async () => {
  const [first, second] = places(['(0,1)(4294967294,65535)', undefined, '(12,3)(40,1)'])
  expect(await asTexts('tid', first)).toEqual(['(0,1)', null, '(12,3)'])
  expect(await asTexts('tid', second)).toEqual(['(4294967294,65535)', null, '(40,1)'])
})

it('sends lists of nothing', async () => {
  for (const [type, list] of [
    ['timestamptz', instants([])],
    ['int', integers([])],
    ['text', words([])],
    ['tid', places([])[0]],
  ] as const)
    expect(await asTexts(type, list)).toEqual([])
})
