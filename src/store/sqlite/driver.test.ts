import { describe, expect, it } from 'vitest'
import { mayDamageSharedFile, openDatabase, resultCode } from './driver.ts'

describe('the SQLite of this runtime', () => {
  it('has the same few methods wherever it comes from, and rows without a prototype', async () => {
    const database = await openDatabase(':memory:')
    database.exec('create table notes (text text) strict')
    expect(database.prepare('insert into notes values (?)').run('a').changes).toBe(1)
    const [row] = database.prepare('select text from notes where text = ?').all('a')
    expect(row).toEqual({ text: 'a' })
    expect(Object.getPrototypeOf(row)).toBeNull()
    database.close()
  })

  it('prints no warning of being experimental', async () => {
    const warnings: unknown[] = []
    const listener = (warning: Error): unknown => warnings.push(warning.message)
    process.on('warning', listener)
    ;(await openDatabase(':memory:')).close()
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', listener)
    expect(warnings).toEqual([])
  })

  it('tells a result code of SQLite from any other error', async () => {
    const database = await openDatabase(':memory:')
    const thrown = (work: () => void): unknown => {
      try {
        return work()
      } catch (error) {
        return error
      }
    }
    expect(resultCode(thrown(() => database.exec('select * from nowhere')))).toBe(1)
    expect(resultCode(new Error('no'))).toBeUndefined()
    expect(resultCode(undefined)).toBeUndefined()
    database.close()
  })

  it.each([
    ['3.7.0', true],
    ['3.47.2', true],
    ['3.51.2', true],
    ['3.51.3', false],
    ['3.53.0', false],
    ['4.0.0', false],
  ])('SQLite %s may damage a file that is shared: %s', (version, may) => {
    expect(mayDamageSharedFile(version)).toBe(may)
  })
})
