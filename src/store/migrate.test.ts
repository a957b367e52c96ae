import { describe, expect, it } from 'vitest'
import { type Migration, pending, refuseOutdated } from './migrate.ts'

const MIGRATIONS: Migration[] = [
  { version: 1, name: 'core', sql: 'create table a ()' },
  { version: 2, name: 'limits', sql: 'create table b ()' },
  { version: 4, name: 'alerts', sql: 'create table c ()' },
]
const versions = (current: number): number[] => pending(MIGRATIONS, current).map(({ version }) => version)

describe('pending', () => {
  it('answers what is newer than the database, in order', () => {
    expect(versions(0)).toEqual([1, 2, 4])
    expect(versions(1)).toEqual([2, 4])
    expect(versions(2)).toEqual([4])
    expect(versions(3)).toEqual([4])
    expect(versions(4)).toEqual([])
  })

  it('refuses a database that a newer version has migrated, and says what to do', () => {
    const refusal = {
      code: 'SCHEMA_TOO_NEW',
      message: expect.stringContaining('version 5'),
      hint: expect.stringMatching(/upgrade/),
    }
    expect(() => versions(5)).toThrow(expect.objectContaining(refusal))
  })
})

describe('refuseOutdated', () => {
  it('names the database, what it lacks, and the command', () => {
    const refusal = {
      code: 'SCHEMA_OUTDATED',
      message: 'postgres app@db lacks migration 2 (limits), 4 (alerts)',
      hint: expect.stringContaining('everytick migrate'),
    }
    expect(() => refuseOutdated('postgres app@db', pending(MIGRATIONS, 1))).toThrow(expect.objectContaining(refusal))
  })
})
