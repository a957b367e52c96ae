/** Which refusals of the database mean that another process creates the table at the same time. */
import { describe, expect, it } from 'vitest'
import { withTable } from './table.ts'

const refusal = (code: string): Error => Object.assign(new Error('refused by the database'), { code })

describe('the table of the index', () => {
  it.each(['23505', '42P07', '42710'])(
    'is created again until all of it is there, when another process causes %s',
    async (code) => {
      const calls: string[] = []
      const answer = await withTable(
        'postgres',
        () => {
          calls.push('create')
          if (calls.filter((call) => call === 'create').length < 3) throw refusal(code)
        },
        async () => {
          calls.push('work')
          if (calls.length === 1) throw refusal('42P01')
          return 'done'
        },
      )
      expect(answer).toBe('done')
      expect(calls).toEqual(['work', 'create', 'create', 'create', 'work'])
    },
  )

  it('is reported as missing when the database refuses to create it', async () => {
    let creations = 0
    const created = withTable(
      'postgres',
      () => {
        creations++
        throw refusal('42501')
      },
      () => Promise.reject(refusal('42P01')),
    )
    await expect(created).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
    expect(creations).toBe(1)
  })

  it('is reported as missing when other processes never finish creating it', async () => {
    const created = withTable(
      'postgres',
      () => Promise.reject(refusal('42710')),
      () => Promise.reject(refusal('42P01')),
    )
    await expect(created).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
  })
})
