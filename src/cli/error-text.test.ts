import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { errorRows, firstLine } from './error-text.ts'

const STACK = `Error: it fails
    at Object.<anonymous> (node:internal/process/task_queues:105:5)
    at send (/app/jobs/mail.ts:12:5)
    at Pool.query (/app/node_modules/pg/lib/client.js:1:2)
    at new Promise (<anonymous>)
    at async file:///app/jobs/index.ts:3:1`

describe('the error of a run', () => {
  it("says its message once, and then the user's own frames; those of packages and Node are counted", () => {
    expect(errorRows({ name: 'Error', message: 'it fails', stack: STACK })).toEqual([
      ['error', 'Error: it fails'],
      ['', '  at send (/app/jobs/mail.ts:12:5)'],
      ['', '  at async file:///app/jobs/index.ts:3:1'],
      ['', '  (3 frames of packages and Node)'],
    ])
  })

  it('counts frames of Everytick itself where it is linked instead of installed', () => {
    const own = `    at pass (${fileURLToPath(new URL('../engine/loop.ts', import.meta.url))}:1:1)`
    const stack = ['Error: no', '    at send (/app/mail.ts:1:1)', own].join('\n')
    const rows = errorRows({ message: 'no', stack })
    expect(rows.map(([, text]) => text)).toEqual([
      'Error: no',
      '  at send (/app/mail.ts:1:1)',
      '  (1 frame of packages and Node)',
    ])
  })

  it('fits into a cell with its first line', () => {
    expect([firstLine('one\n  two\nthree'), firstLine('one')]).toEqual(['one …', 'one'])
  })

  it('shows some frames when none is the user’s', () => {
    const frames = Array.from({ length: 9 }, (_, i) => `    at f${i} (/app/node_modules/x/${i}.js:1:1)`)
    const rows = errorRows({ name: 'TypeError', message: 'no', stack: ['TypeError: no', ...frames].join('\n') })
    expect(rows.map(([, text]) => text)).toEqual([
      'TypeError: no',
      ...[0, 1, 2, 3, 4].map((i) => `  at f${i} (/app/node_modules/x/${i}.js:1:1)`),
      '  (4 frames of packages and Node)',
    ])
  })

  it('keeps the lines of a long message apart, and shows code and detail', () => {
    expect(errorRows({ message: 'one\ntwo', code: 'E_X', detail: { status: 500 }, stack: 'Error: one\ntwo' })).toEqual([
      ['error', 'Error: one'],
      ['', 'two'],
      ['code', 'E_X'],
      ['detail', '{"status":500}'],
    ])
  })
})
