import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Connection, connect } from './connection.ts'
import { type Database, openDatabase } from './driver.ts'

let folder: string
let path: string
let connection: Connection
let other: Database

const CREATE = 'create table notes (text text not null unique)'
const NOTE = 'insert into notes values (?)'
const notes = (): unknown[] => other.prepare('select text from notes order by rowid').all()
const texts = (...all: string[]): unknown[] => all.map((text) => ({ text }))
/** Counts commits as another connection sees them. */
const commits = (): unknown => other.prepare('pragma data_version').all()[0]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'everytick-'))
  path = join(folder, 'a.db')
  connection = await connect({ path, busyTimeoutMs: 60_000 })
  await connection.write(() => connection.exec(CREATE))
  other = await openDatabase(path)
})

afterEach(async () => {
  await connection.close()
  other.close()
  rmSync(folder, { recursive: true })
})

describe('a connection', () => {
  it('is durable: a write-ahead log that is synced at every commit', () => {
    expect(connection.all('pragma journal_mode')).toEqual([{ journal_mode: 'wal' }])
    expect(connection.all('pragma synchronous')).toEqual([{ synchronous: 2 }])
    expect(connection.all('pragma foreign_keys')).toEqual([{ foreign_keys: 0 }])
  })

  it('undoes all of a write that throws, and passes the error on as it is', async () => {
    const error = new Error('no')
    const write = connection.write(() => {
      connection.run(NOTE, 'lost')
      throw error
    })
    await expect(write).rejects.toBe(error)
    await connection.write(() => connection.run(NOTE, 'kept'))
    expect(notes()).toEqual(texts('kept'))
  })

  it('commits what is asked for in one turn together, and lets each of them fail alone', async () => {
    commits()
    const before = commits()
    const writes = ['a', 'b', 'a', 'c'].map((text) => connection.write(() => connection.run(NOTE, text)))
    const answers = await Promise.allSettled(writes)
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(notes()).toEqual(texts('a', 'b', 'c'))
    expect(commits()).toEqual({ data_version: (before as { data_version: number }).data_version + 1 })
  })

  it('lets timers in between two writes, however many follow each other', async () => {
    let fired = false
    setTimeout(() => (fired = true))
    for (let i = 0; !fired; i += 1) await connection.write(() => connection.run(NOTE, `${i}`))
  })

  it('lets timers in between the steps of one long write, but no reader before it is committed', async () => {
    let fired = false
    setTimeout(() => (fired = true))
    const order: string[] = []
    const write = connection.writeSteps(function* () {
      for (let i = 0; i === 0 || !fired; i += 1) yield { text: NOTE, values: [`${i}`], rows: 1000 }
      order.push('written')
    })
    const read = new Promise((resolve) =>
      setImmediate(() => {
        expect(notes()).toEqual([])
        resolve(connection.read(() => order.push('read')))
      }),
    )
    await Promise.all([write, read])
    expect(order).toEqual(['written', 'read'])
    expect(notes()).not.toEqual([])
  })

  it('undoes all steps of a write when one of them fails, and commits those beside it', async () => {
    const once = connection.write(() => connection.run(NOTE, 'kept'))
    const twice = connection.writeSteps(function* () {
      for (const text of ['lost', 'kept']) yield { text: NOTE, values: [text], rows: 1000 }
    })
    const answers = await Promise.allSettled([once, twice])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(notes()).toEqual(texts('kept'))
  })

  it('says that the disk is full, keeps what was written before, and writes again when there is space', async () => {
    await connection.write(() => connection.run(NOTE, 'kept'))
    const pages = connection.all<{ page_count: number }>('pragma page_count')[0]!.page_count
    connection.exec(`pragma max_page_count = ${pages}`)
    const large = (text: string): Promise<number> =>
      connection.write(() => connection.run(NOTE, text + 'x'.repeat(100_000)))
    const full = { code: 'STORE_FULL', message: expect.stringContaining(path), hint: expect.stringContaining('free') }
    await expect(large('alone')).rejects.toMatchObject(full)
    // In one transaction with others, too: none of them may be blamed on anything else.
    const answers = await Promise.allSettled([large('a'), large('b')])
    for (const answer of answers) expect(answer).toMatchObject({ status: 'rejected', reason: full })
    expect(notes()).toEqual(texts('kept'))
    connection.exec(`pragma max_page_count = ${pages + 1000}`)
    expect(await large('later')).toBe(1)
  })

  it('waits for another writer without holding up the event loop, and then writes', async () => {
    other.exec('begin immediate')
    const write = connection.write(() => connection.run(NOTE, 'ours'))
    // Only a turn of this very loop ends the other transaction.
    setTimeout(() => {
      other.prepare(NOTE).all('theirs')
      other.exec('commit')
    })
    await write
    expect(notes()).toEqual(texts('theirs', 'ours'))
  })

  it('reads while another writes', async () => {
    other.exec('begin immediate')
    other.prepare(NOTE).all('theirs')
    expect(await connection.read(() => connection.all('select text from notes'))).toEqual([])
    other.exec('rollback')
  })

  it('gives up on a writer that does not end, says so, and works again when it has', async () => {
    const hasty = await connect({ path, busyTimeoutMs: 1 })
    other.exec('begin immediate')
    const refusal = { code: 'STORE_UNREACHABLE', message: expect.stringContaining('stayed locked for 1ms') }
    await expect(hasty.write(() => hasty.run(NOTE, 'ours'))).rejects.toMatchObject(refusal)
    other.exec('rollback')
    await hasty.write(() => hasty.run(NOTE, 'ours'))
    await hasty.close()
    expect(notes()).toEqual(texts('ours'))
  })

  it('gives up by the clock, however few tries a loaded machine had time for', async () => {
    let at = 0
    const clock = { elapsed: () => (at += 1000) }
    const loaded = await connect({ path, busyTimeoutMs: 5000, clock })
    other.exec('begin immediate')
    await expect(loaded.write(() => loaded.run(NOTE, 'ours'))).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' })
    expect(at).toBe(6000)
    other.exec('rollback')
    await loaded.close()
  })

  it('finishes what is under way before it closes, and refuses what comes after', async () => {
    const write = connection.write(() => connection.run(NOTE, 'kept'))
    await Promise.all([connection.close(), connection.close()])
    expect(await write).toBe(1)
    expect(notes()).toEqual(texts('kept'))
    const refusal = { code: 'STORE_UNREACHABLE' }
    await expect(connection.write(() => connection.run(NOTE, 'late'))).rejects.toMatchObject(refusal)
    await expect(connection.read(() => connection.all('select 1'))).rejects.toMatchObject(refusal)
  })

  it('names the file it cannot open, or that is no database', async () => {
    const nowhere = join(folder, 'no', 'such', 'place.db')
    const missing = {
      code: 'STORE_MISSING',
      message: expect.stringContaining(nowhere),
      hint: expect.stringMatching(/create it/),
    }
    await expect(connect({ path: nowhere, busyTimeoutMs: 1 })).rejects.toMatchObject(missing)
    const letter = join(folder, 'letter.txt')
    writeFileSync(letter, 'Dear reader, this is no database, and it is long enough to look like one. '.repeat(100))
    const strange = {
      code: 'STORE_UNUSABLE',
      message: expect.stringContaining(letter),
      hint: expect.stringMatching(/path/),
    }
    await expect(connect({ path: letter, busyTimeoutMs: 1 })).rejects.toMatchObject(strange)
  })
})
