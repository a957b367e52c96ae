/** Whatever a user can write is kept, kept with the replacement character, or refused; it is never taken for SQL and never cut. */
import { expect } from 'vitest'
import { storableText } from '../../store/storable-text.ts'
import type { Group } from './harness.ts'
import { definitionOf, newRun, putNew, putOf, running, settled, settlement } from './samples.ts'

const HOSTILE: readonly (readonly [name: string, text: string])[] = [
  ['quotes and SQL', `'"\`; drop table runs; -- $1 ?1 :a @b %s \\`],
  ['emoji and other planes', '👩‍👩‍👧 𝄞 é é 漢字 ﷽'],
  ['direction marks and joiners', 'a\u202eb\u200fc\u2066d\u200b'],
  ['line ends and control characters', 'a\r\nb\tc\u0001\u001b[31m\u007f\u0085\u2028'],
  ['blanks at both ends', '  x  '],
  ['what looks like JSON', '{"a":1}'],
  ['the word null', 'null'],
  ['a NUL', 'a\0b'],
  ['half a surrogate pair', 'a\ud83db'],
  ['the other half of a surrogate pair', 'a\ude42b'],
]

/** A store keeps the text, keeps it with the replacement character, or refuses it; it never keeps something else. */
const faithful = (kept: unknown, text: string): boolean =>
  kept === text || kept === text.replaceAll('\0', '\ufffd').replaceAll(/\p{Surrogate}/gu, '\ufffd')

const isBroken = (text: string): boolean => /\0|\p{Surrogate}/u.test(text)

export const hostileTextGroup: Group = (promise) => {
  for (const [name, text] of HOSTILE) {
    promise(
      `keeps ${name} in a payload, key and value`,
      { kills: 'text is put into the statement' },
      async ({ store }) => {
        const payload = { [text]: [text, { deep: text }] }
        const [run] = await store.runs.enqueue([newRun({ payload })])
        const kept = (await store.history.run(run!.id))!.payload as Record<string, [string, { deep: string }]>
        const [key, value] = Object.entries(kept)[0]!
        for (const found of [key, value[0], value[1].deep]) expect(faithful(found, text)).toBe(true)
      },
    )

    promise(
      `keeps ${name} in what an attempt leaves, with the replacement character where no database can hold it`,
      { kills: 'words of an attempt are stored as they came' },
      async ({ store }) => {
        const storable = storableText(text)
        const done = await running(store)
        const result = { [text]: [text, { deep: text }] }
        const progress = { fraction: 0.5, note: text }
        const succeeded = { kind: 'final', state: 'succeeded', result } as const
        expect(await store.claims.settle([settlement(done, succeeded, { progress })])).toEqual(['accepted'])
        const stored = {
          result: { [storable]: [storable, { deep: storable }] },
          progress: { fraction: 0.5, note: storable },
        }
        expect(await store.history.run(done.id)).toMatchObject(stored)

        const failing = await running(store)
        const error = { name: text, message: text, stack: text, code: text, detail: { [text]: text } }
        expect(await settled(store, failing, { kind: 'final', state: 'failed', error })).toBe('accepted')
        const storedError = {
          name: storable,
          message: storable,
          stack: storable,
          code: storable,
          detail: { [storable]: storable },
        }
        expect((await store.history.run(failing.id))!.error).toEqual(storedError)

        const line = { runId: failing.id, attempt: 1, at: await store.now(), level: 'info' } as const
        await store.logs.append([{ ...line, message: text, data: { [text]: text } }])
        const lines = await store.logs.read(failing.id, { limit: 10 })
        expect(lines).toMatchObject([{ message: storable, data: { [storable]: storable } }])
      },
    )

    promise(
      `keeps ${name} in every name, or refuses it and goes on`,
      { kills: 'a refused text leaves the store unusable' },
      async ({ store }) => {
        const definition = definitionOf({ workspace: text, key: text, job: text, queue: text, description: text })
        const put = store.schedules.put([putOf(definition)])
        const refused = await put.then(
          () => false,
          () => true,
        )
        if (refused) expect(isBroken(text)).toBe(true)
        const kept = refused ? [] : await store.schedules.list({ limit: 10 })
        for (const schedule of kept)
          for (const field of ['workspace', 'key', 'job', 'queue', 'description'] as const)
            expect(faithful(schedule[field], text)).toBe(true)
        expect(kept).toHaveLength(refused ? 0 : 1)
        if (!refused && !isBroken(text)) expect(await store.schedules.get(text, text)).toEqual(kept[0])
        await putNew(store)
      },
    )
  }

  promise('keeps a payload of 256 KiB', { kills: 'long payloads are cut' }, async ({ store }) => {
    const payload = { text: 'é'.repeat(130_000) }
    const [run] = await store.runs.enqueue([newRun({ payload })])
    expect((await store.history.run(run!.id))!.payload).toEqual(payload)
  })

  promise(
    'keeps numbers, nesting and empty values as they are',
    { kills: 'JSON passes through text of another kind' },
    async ({ store }) => {
      const payload = [0, -1.5, 1e21, 5e-324, 2 ** 53, true, null, '', [], {}, [[[]]], { '': { __proto__x: 1 } }]
      const [run] = await store.runs.enqueue([newRun({ payload })])
      expect((await store.history.run(run!.id))!.payload).toEqual(payload)
      for (const scalar of [null, 0, 'text', false] as const) {
        const [made] = await store.runs.enqueue([newRun({ payload: scalar })])
        expect((await store.history.run(made!.id))!.payload).toEqual(scalar)
      }
    },
  )

  promise(
    'refuses a payload that is not JSON, and writes nothing',
    { kills: 'a payload is written before it is read' },
    async ({ store }) => {
      const bad = newRun({ payload: { n: 1n } as never })
      const good = newRun()
      await expect(store.runs.enqueue([good, bad])).rejects.toThrow()
      expect(await store.history.runs({}, { limit: 10 })).toEqual([])
    },
  )
}
