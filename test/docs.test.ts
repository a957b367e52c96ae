/** Holds the pages to the product: what they list exists, what they show happens, and nothing that exists is left unsaid. */
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { every, once, parseCron } from '../src/cron.ts'
import { ERROR_CODES } from '../src/errors.ts'
import { defineJob, everytick, http, schedule } from '../src/index.ts'
import { createTestEverytick } from '../src/testing/test-everytick.ts'
import { ensureBuilt, readText, root, runNode } from './built-package.ts'
import { anchorsOf, blocksOf, filesEndingIn, linksOf, rowsUnder, sectionsOf } from './markdown.ts'

const CRON_PAGE = 'docs/reference/cron.md'
const ERROR_PAGE = 'docs/reference/errors.md'
const seconds = (date: Date): string => date.toISOString().replace('.000Z', 'Z')

/** What the examples of the pages may name. */
const NAMES = { parseCron, every, once, defineJob, schedule, everytick, http, createTestEverytick, z }
const AsyncFunction = (async () => {}).constructor as new (
  ...texts: string[]
) => (...args: unknown[]) => Promise<unknown>

/** The code that an example, given as text of a page, ends with; errors recorded with a run are plain data. */
async function refusalOf(example: string): Promise<string> {
  try {
    await new AsyncFunction(...Object.keys(NAMES), example)(...Object.values(NAMES))
    return 'accepted'
  } catch (error) {
    const { code } = error as { code?: unknown }
    return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? code : String(error)
  }
}

/** An older or newer version, a runtime without SQLite and a fault of ours cannot be had on a page; their own tests show them. */
const WITHOUT_EXAMPLE = [
  'PACKAGE_MISSING',
  'SCHEMA_OUTDATED',
  'SCHEMA_TOO_NEW',
  'SQLITE_MISSING',
  'STORE_DENIED',
  'STORE_FULL',
  'STORE_STANDBY',
  'STORE_TLS',
  'STORE_UNUSABLE',
  'TIMING_STUCK',
]

describe('the error reference', () => {
  it('explains every code of the catalogue and no other', () => {
    expect(sectionsOf(ERROR_PAGE).map(({ title }) => title)).toEqual(Object.keys(ERROR_CODES))
  })

  it('shows for each code an example that ends with it', async () => {
    const shown: string[][] = []
    for (const { title, text } of sectionsOf(ERROR_PAGE)) {
      shown.push([title, ...(await Promise.all(blocksOf(text, 'ts').map(refusalOf)))])
    }
    const expected = Object.keys(ERROR_CODES).map((code) => (WITHOUT_EXAMPLE.includes(code) ? [code] : [code, code]))
    expect(shown).toEqual(expected)
  })
})

describe('the cron reference', () => {
  it('lists expressions that have the occurrences it says', () => {
    const rows = rowsUnder(CRON_PAGE, ['Expression', 'Meaning', 'First occurrences'])
    expect(rows.length).toBeGreaterThan(15)
    const after = new Date('2026-11-15T00:00:00Z')
    const found = rows.map(([expression = '', meaning = '', listed = '']) => {
      const dates = parseCron(expression).nextMany(after, listed.split(' ').length)
      return [expression, meaning, dates.map(seconds).join(' ')]
    })
    expect(found).toEqual(rows)
  })

  it('lists H expressions that are spread as it says', () => {
    const rows = rowsUnder(CRON_PAGE, ['Expression', 'Meaning']).filter(([expression]) => expression!.includes('H'))
    expect(rows.length).toBe(3)
    for (const [expression = ''] of rows) {
      const times = ['a', 'b', 'c', 'd'].map((seed) => parseCron(expression, { seed }).next(new Date(0))?.getTime())
      expect(new Set(times).size).toBeGreaterThan(1)
    }
  })

  it('lists refusals that carry the codes it says', async () => {
    const rows = rowsUnder(CRON_PAGE, ['Refused', 'Code'])
    expect(rows.length).toBeGreaterThan(5)
    const codes = await Promise.all(rows.map(([text]) => refusalOf(`parseCron(${JSON.stringify(text)})`)))
    expect(codes).toEqual(rows.map(([, code]) => code))
  })

  it('lists what happens when the clock changes as it happens', () => {
    const rows = rowsUnder(CRON_PAGE, ['Zone', 'Expression', 'dst', 'After'])
    expect(rows.length).toBeGreaterThan(8)
    const found = rows.map(([timezone = '', expression = '', rule = '', after = '', listed = '']) => {
      const [kind = '', choice = ''] = rule.split(': ')
      const cron = parseCron(expression, { timezone, dst: rule === '' ? {} : { [kind]: choice } })
      const dates = cron.nextMany(new Date(after), listed.split(' ').length)
      return [timezone, expression, rule, after, dates.map(seconds).join(' ')]
    })
    expect(found).toEqual(rows)
  })
})

describe('the README', () => {
  beforeAll(ensureBuilt)

  it('shows the two commands', () => {
    const commands = blocksOf(readText('README.md'), 'sh')
      .join('')
      .split('\n')
      .map((line) => line.replace(/\s+#.*/, ''))
    expect(commands).toEqual(expect.arrayContaining(['npm start', 'npm test']))
  })

  it('lists only commands that the program knows, and every one it has', () => {
    const listed = rowsUnder('README.md', ['Command']).map(([command]) => command!.split(' ')[1])
    const help = runNode('dist/cli/main.js', '--help').out
    const commands = /^Commands:\n([\s\S]*?)\n\n/m.exec(help)?.[1] ?? ''
    const known = Array.from(commands.matchAll(/^ {2}(\w[\w-]*)(?: |$)/gm), ([, name]) => name!)
    expect(known.length).toBeGreaterThan(0)
    expect(listed.toSorted()).toEqual(known.filter((name) => name !== 'help').toSorted())
  })

  it('shows code that runs and answers as its remarks say', () => {
    const [code = ''] = blocksOf(readText('README.md'), 'ts')
    const remarks = Array.from(code.matchAll(/^(\w.*?) \/\/ (.+)$/gm), ([, call, answer]) => ({
      call: call!,
      answer: answer!,
    }))
    expect(remarks.length).toBeGreaterThan(1)
    const script = code.replace(/^(\w.*?) \/\/ .+$/gm, (_, call: string) => `console.log(JSON.stringify(${call}))`)
    const { code: exit, out } = runNode('--input-type=module', '-e', script)
    expect(exit).toBe(0)
    expect(out.trimEnd().split('\n')).toEqual(remarks.map(({ answer }) => JSON.stringify(answer.replace(/^'|'$/g, ''))))
  })
})

describe('every page', () => {
  const pages = filesEndingIn(['.md'])

  it('links only to what is there', () => {
    const broken = pages.flatMap((page) =>
      linksOf(readText(page))
        .filter((link) => {
          const [path = '', anchor] = link.split('#')
          const target = path === '' ? page : posix.join(posix.dirname(page), path)
          return (
            !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(readText(target)).includes(anchor))
          )
        })
        .map((link) => `${page} → ${link}`),
    )
    expect(broken).toEqual([])
    expect(pages).toEqual(
      expect.arrayContaining(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']),
    )
  })

  it('say of each run-time dependency with an install script that it has one', () => {
    const lock = JSON.parse(readText('package-lock.json')) as {
      packages: Record<string, { readonly hasInstallScript?: boolean; readonly dev?: boolean }>
    }
    const scripted = Object.entries(lock.packages)
      .filter(([path, { hasInstallScript, dev }]) => path !== '' && hasInstallScript === true && dev !== true)
      .map(([path]) => path.replace('node_modules/', ''))
    const own = JSON.parse(readText('package.json')) as { readonly scripts: Record<string, string> }
    expect(Object.keys(own.scripts).filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name))).toEqual([])
    expect(scripted).toEqual(['@photostructure/sqlite'])
    for (const name of scripted) expect(readText('SECURITY.md')).toContain(`\`${name}\` runs`)
  })

  it("promises no more than can be kept, and names nobody's machine", () => {
    // Written in pieces, so that this file does not contain what it looks for.
    const samples = [
      ['exactly-once', ' exec', 'ution'],
      ['/ho', 'me/ana/everytick'],
      ['registry.np', 'mjs.org'],
    ].map((pieces) => pieces.join(''))
    const overpromise = new RegExp(`exactly[- ]once[- ]${'exec'}ution`, 'i')
    const machine = new RegExp(`(?<![\\w.])/(?:${['work', 'home', 'Users', 'root'].join('|')})/[\\w.-]+`)
    const host = new RegExp(['np', 'mjs\\.|yarn', 'pkg\\.|artif', 'actory'].join(''), 'i')
    const isFaulty = (text: string): boolean => [overpromise, machine, host].some((pattern) => pattern.test(text))
    const paths = filesEndingIn(['.md', '.ts', '.mjs', '.json', '.yml', 'run', '.npmrc'])
    expect(paths.filter((path) => isFaulty(readText(path)))).toEqual([])
    expect(samples.map(isFaulty)).toEqual([true, true, true])
  })
})
