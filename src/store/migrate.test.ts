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
      hint: expect.stringMatching(/update everytick/),
    }
    expect(() => versions(5)).toThrow(expect.objectContaining(refusal))
  })
})

describe('refuseOutdated', () => {
  const named = { name: 'postgres app@db', address: 'postgres://app@db' }
  const refuse = (current: number) => () => refuseOutdated(named, current, pending(MIGRATIONS, current))

  it('names the database, what it lacks, and the command that applies it', () => {
    const refusal = {
      code: 'SCHEMA_OUTDATED',
      message: 'postgres app@db lacks migration 2 (limits), 4 (alerts)',
      hint: 'run: everytick migrate --db postgres://app@db',
    }
    expect(refuse(1)).toThrow(expect.objectContaining(refusal))
  })

  it('tells a database without our tables apart, since that may be the wrong database', () => {
    const refusal = {
      code: 'STORE_MISSING',
      message: 'postgres app@db has no tables of Everytick',
      hint: expect.stringMatching(/check the address.*everytick migrate --db postgres:\/\/app@db$/),
    }
    expect(refuse(0)).toThrow(expect.objectContaining(refusal))
  })
})
