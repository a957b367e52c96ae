import { describe, expect, it } from 'vitest'
import { readStoreAddress } from '../open-store.ts'
import { problemJson, problemOf, problemText } from './problem.ts'
import { UsageError } from './usage-error.ts'

const MARK = 'S3CRETMARK'
const SIGNS = ['', ':', '/', '#', '?', '%', '@', '=', '&', "'", '"', ' ', '%zz', '\\', ',', ';', '[', ']']
const SHAPES: readonly ((password: string) => string)[] = [
  (password) => `postgres://app:${password}@db/shop`,
  (password) => `postgres://app:${password}@db,other/shop?prepare=no`,
  (password) => `sqlite:postgres://app:${password}@db/shop`,
  (password) => `postgres:/app:${password}@db/shop`,
  (password) => `mysql://app:${password}@db/shop`,
  (password) => `${password}:app@db`,
]

const shown = (error: unknown): string => problemText(problemOf(error), false) + problemJson(problemOf(error))

describe('an error about an address', () => {
  it.each(SHAPES.map((shape) => [shape('<password>'), shape] as const))(
    '%s holds no part of the password',
    (_, shape) => {
      for (const before of SIGNS)
        for (const after of SIGNS) {
          const address = shape(`${MARK}${before}x${after}${MARK}`)
          try {
            const read = readStoreAddress(address)
            expect(read.kind, address).toBe('postgres')
          } catch (error) {
            expect(shown(error).toUpperCase(), address).not.toContain(MARK)
          }
        }
    },
  )

  it.each([
    `unknown option '--bd=postgres://app:${MARK}@db/shop'`,
    `unknown command 'postgres://app:p@${MARK}:x/y#z@db'`,
    `connect failed: host=db password=${MARK} user=app`,
    `connect failed: host=db password='${MARK} and more' user=app`,
    `postgres://db/shop?user=app&password=${MARK}&x=1 was refused`,
  ])('%s is shown without it', (text) => {
    expect(shown(new UsageError(text, { hint: text }))).not.toContain(MARK)
    expect(shown(new Error(text))).not.toContain(MARK)
  })

  it.each([
    'run: everytick migrate --db postgres://app@db:5432/shop',
    "run: everytick migrate --db 'postgres://app:<password>@db/shop?schema=jobs'",
    'write it like postgres://user:password@host:5432/database',
  ])('%s is shown as it is, since it holds no password', (text) =>
    expect(problemOf(new UsageError('no', { hint: text })).hint).toBe(text),
  )
})
