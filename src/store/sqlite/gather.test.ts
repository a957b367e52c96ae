import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Connection, connect } from './connection.ts'
import { gathered } from './gather.ts'
import { ask, type Steps } from './steps.ts'

let connection: Connection
/** What each write was handed. */
let writes: (readonly string[])[]
let note: (texts: readonly string[]) => Promise<string[]>

beforeEach(async () => {
  connection = await connect({ path: ':memory:', busyTimeoutMs: 1 })
  connection.exec('create table notes (text text not null unique)')
  writes = []
  note = gathered(connection, function* (texts: readonly string[]): Steps<string[]> {
    writes.push(texts)
    for (const text of texts) yield* ask('insert into notes values (?)', text)
    return texts.map((text) => text.toUpperCase())
  })
})

afterEach(() => connection.close())

const notes = (): unknown[] => connection.all<{ text: string }>('select text from notes').map(({ text }) => text)

describe('calls of one turn', () => {
  it('are one write, in order, and each is answered for its own', async () => {
    expect(await Promise.all([note(['a', 'b']), note([]), note(['c'])])).toEqual([['A', 'B'], [], ['C']])
    expect(writes).toEqual([['a', 'b', 'c']])
    await note(['d'])
    expect(writes).toHaveLength(2)
  })

  it('do not take each other along when one of them cannot be written', async () => {
    const answers = await Promise.allSettled([note(['a']), note(['b', 'a']), note(['c'])])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(notes()).toEqual(['a', 'c'])
  })

  it('are not gathered without end', async () => {
    const many = (name: string): string[] => Array.from({ length: 400 }, (_, i) => `${name}${i}`)
    await Promise.all(['a', 'b', 'c'].map((name) => note(many(name))))
    expect(writes.map((texts) => texts.length)).toEqual([800, 400])
  })

  it('are all refused when the connection is closed', async () => {
    await connection.close()
    const answers = await Promise.allSettled([note(['a']), note(['b'])])
    const refused = { status: 'rejected', reason: expect.objectContaining({ code: 'STORE_UNREACHABLE' }) }
    expect(answers).toEqual([refused, refused])
  })
})
