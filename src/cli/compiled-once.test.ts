import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compiledOnce } from './compiled-once.ts'

let base: string
let folder: string
let count = 0
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'everytick-'))
  folder = join(base, 'new', 'folder')
  count = 0
})
afterEach(() => rmSync(base, { recursive: true }))

const compiled = (source: string, filename = '/a/b.ts'): string =>
  compiledOnce(folder, { filename, source }, () => `${source}:${++count}`)

describe('what a source was compiled to', () => {
  it('is kept until the source changes, one entry for a file', () => {
    expect([compiled('x'), compiled('x'), compiled('y'), compiled('y')]).toEqual(['x:1', 'x:1', 'y:2', 'y:2'])
    expect(compiled('x', '/c/b.ts')).toBe('x:3')
    expect(readdirSync(folder)).toHaveLength(2)
  })

  it('is compiled each time where it cannot be kept', () => {
    writeFileSync(join(base, 'new'), 'a file where the folder would be')
    expect([compiled('x'), compiled('x')]).toEqual(['x:1', 'x:2'])
  })

  it('does not pile up without end', () => {
    for (let i = 0; i < 510; i += 1) compiled('x', `/a/${i}.ts`)
    expect(readdirSync(folder).length).toBeLessThan(20)
  })
})
