import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { refusalOf } from './refusals.ts'

const folder = mkdtempSync(join(tmpdir(), 'everytick-'))
afterAll(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'a.db')
const refusal = refusalOf({ path, busyTimeoutMs: 5 })
/** With an extended code, as the driver gives it. */
const thrown = (errcode: number): Error => Object.assign(new Error('words of SQLite'), { errcode: errcode | 0x100 })

describe('what SQLite throws', () => {
  it.each([
    [5, 'STORE_UNREACHABLE', /stayed locked for 5ms/, /another process/],
    [6, 'STORE_UNREACHABLE', /stayed locked for 5ms/, /another process/],
    [7, 'STORE_UNREACHABLE', /no memory/, /free memory/],
    [8, 'STORE_DENIED', /may not be written/, /rights of the file and of its folder/],
    [10, 'STORE_UNREACHABLE', /disk reports an error/, /check the disk/],
    [11, 'STORE_UNUSABLE', /damaged/, /backup/],
    [13, 'STORE_FULL', /disk is full/, /free some space/],
    [14, 'STORE_DENIED', /cannot be opened/, /rights of the file/],
    [26, 'STORE_UNUSABLE', /not a SQLite database/, /path of the database/],
    [1, 'STORE_UNUSABLE', /words of SQLite/, /by hand/],
  ])('with the result code %i is %s, with the setting to check', (errcode, code, text, hint) => {
    const cause = thrown(errcode)
    const told = { code, message: expect.stringMatching(text), hint: expect.stringMatching(hint), cause }
    expect(refusal(cause)).toMatchObject(told)
    expect((refusal(cause) as Error).message).toContain(path)
  })

  it('names the folder that is not there', () => {
    const path = join(folder, 'no', 'a.db')
    const told = { code: 'STORE_MISSING', message: expect.stringContaining(join(folder, 'no')) }
    expect(refusalOf({ path, busyTimeoutMs: 5 })(thrown(14))).toMatchObject(told)
  })

  it('leaves every other error as it is', () => {
    const mistake = new TypeError('a mistake')
    expect(refusal(mistake)).toBe(mistake)
  })
})
