import { describe, expect, it } from 'vitest'
import { othersOf } from './typescript-hook.ts'

describe('a specifier that leads nowhere', () => {
  it.each([
    ['./x.js', ['./x.ts']],
    ['../deep/x.mjs', ['../deep/x.mts']],
    ['./x', ['./x.ts', './x.js', './x/index.ts']],
    ['./x.y.js', ['./x.y.ts']],
    ['file:///a/x.js', ['file:///a/x.ts']],
    ['./x.ts', []],
    ['./x.json', []],
    ['zod', []],
    ['@scope/x.js', []],
    ['node:fs', []],
  ])('%s may mean %j', (specifier, others) => expect(othersOf(specifier)).toEqual(others))
})
