/** Holds what is said about results to the results: the page shows what was saved, and the check misses no miss. Figures here are made up. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'

interface Row {
  readonly id: string
  readonly what: string
  readonly unit: string
  readonly ours: number
  readonly rivals: Readonly<Record<string, { value: number; ratio: number; spread?: readonly number[] }>>
  readonly must: null | { readonly kind: string; readonly value: number; readonly rival?: string }
  readonly aim?: number
  readonly series?: { readonly x: number[]; readonly y: number[]; readonly xLabel: string; readonly yLabel: string }
}
interface Result {
  readonly benchmark: string
  readonly store: string | null
  readonly measuredAt: string
  readonly machine: Readonly<Record<string, string | number>>
  readonly parts?: readonly { readonly name: string; readonly measuredAt: string | null }[]
  readonly rows: readonly Row[]
}
interface Verdict {
  readonly ok: boolean
  readonly text: string
}
interface Parts {
  pageFiles(saved: readonly Result[]): Record<string, string>
  checkText(saved: readonly Result[], asked?: { benchmark?: string; store?: string }): Verdict
  readSaved(folder?: URL): Result[]
  keep(result: Result, folder: URL): string
  kept(about: { benchmark: string; store: string | null }, folder: URL): Result | null
  withPart(kept: Result | null, names: readonly string[], one: { part: object; about: object }): Result
  newestOf(saved: readonly Result[]): Result[]
  written(result: unknown): string
  readonly REQUIRED: Readonly<Record<string, readonly string[]>>
}

const at = (path: string): URL => new URL(`../${path}`, import.meta.url)
const part = (name: string): Promise<Parts> => import(at(`benchmarks/${name}.mjs`).href)
const { pageFiles } = await part('page/page')
const { checkText, REQUIRED } = await part('check')
const { readSaved, newestOf, written, keep, kept } = await part('saved')
const { withPart } = await part('parts')

const row = (id: string, about: Partial<Row> = {}): Row => ({
  id,
  what: id,
  unit: '/s',
  ours: 100,
  rivals: {},
  must: { kind: 'least', value: 50 },
  ...about,
})
const result = (benchmark: string, rows: readonly Row[], about = {}): Result => ({
  benchmark,
  store: null,
  measuredAt: '2026-11-16T03:04:05.678Z',
  ...{ commit: { id: 'abc1234567', dirty: true }, versions: { everytick: '9.8.7' }, settings: { rounds: 3 } },
  machine: { cpu: 'Abacus', cores: 2, memoryGb: 24, platform: 'linux x64', node: '20.19.0' },
  rows,
  ...about,
})
/** Everything that must be measured, and met. */
const whole = (): Result[] =>
  Object.entries(REQUIRED).map(([benchmark, ids]) =>
    result(
      benchmark,
      ids.map((id) => row(id)),
    ),
  )

const behind = row('postgres-drain-1', {
  what: 'postgres  drain, 1 process',
  ours: 41_234,
  rivals: {
    'pg-<boss>': { value: 23_456, ratio: 1.7579, spread: [20_001, 30_003] },
    limit: { value: 98_765, ratio: 0.4 },
  },
  must: { kind: 'ratio', rival: 'pg-<boss>', value: 2 },
  aim: 60_000,
})
const grows = (store: string, y: number[]): Row =>
  row(`${store}-growth-fire`, {
    what: `${store.padEnd(10)}cost of a fire`,
    must: null,
    series: { x: [1000, 10_000, 1_000_000].slice(0, y.length), y, xLabel: 'stored schedules', yLabel: 'us a fire' },
  })

describe('the page', () => {
  it('is what the saved results make of it, and so is every chart beside it', () => {
    const files = pageFiles(readSaved())
    const charts = existsSync(at('docs/benchmarks')) ? readdirSync(at('docs/benchmarks')) : []
    expect(['benchmarks.md', ...charts.map((name) => `benchmarks/${name}`)].toSorted()).toEqual(
      Object.keys(files).toSorted(),
    )
    const differing = Object.entries(files).filter(([path, text]) => readFileSync(at(`docs/${path}`), 'utf8') !== text)
    // Else make it again with: npm run bench -- page
    expect(differing.map(([path]) => path)).toEqual([])
  })

  it('shows ours, the rivals, the limit, the settings, who is absent, and a miss as a miss', () => {
    const settings = {
      ...{ rounds: 3, absent: { 'agenda on postgres': 'it needs a newer Node' } },
      'graphile-worker': { concurrentJobs: 24 },
    }
    const page = pageFiles([result('rivals', [behind], { settings })])['benchmarks.md']!
    const said = [
      '**41,234**',
      '23,456<br>20,001 – 30,003',
      '98,765',
      '1.75×',
      '≥ 2× pg-&lt;boss>',
      '≥ 60,000',
      '**missed**',
    ]
    const about = ['0 of 1', 'concurrentJobs: 24', 'agenda on postgres: it needs a newer Node', 'Abacus', 'abc1234567']
    for (const text of [...said, ...about]) expect(page).toContain(text)
  })

  it('is the same whatever the order of the files it was made from', () => {
    const saved = [...whole(), result('core', [row('sqlite-fires')], { store: 'sqlite', measuredAt: '2026-11-17' })]
    expect(pageFiles(saved.toReversed())).toEqual(pageFiles(saved))
  })

  it('says that there are no results while there are none', () => {
    expect(Object.keys(pageFiles([]))).toEqual(['benchmarks.md'])
    expect(pageFiles([])['benchmarks.md']).toContain('## No results yet')
  })
})

describe('a chart', () => {
  const files = pageFiles([
    result('rivals', [behind]),
    result('scale', [
      ...[grows('sqlite', [40, 41, 42.5]), grows('postgres', [50, 50, 51.5])],
      { ...grows('postgres', [50, 50]), id: 'postgres-beginning' },
    ]),
  ])
  const charts = Object.entries(files).filter(([path]) => path.endsWith('.svg'))

  it('is drawn for the race and for what grows, both stores in one and no line twice', () => {
    expect(charts.map(([path]) => path)).toEqual(['benchmarks/postgres-drain.svg', 'benchmarks/growth-fire.svg'])
    expect(charts[1]![1]).toMatch(/SQLite 1\.06×[\s\S]*Postgres 1\.03×/)
  })

  it('of what grows tells every cost in words, and leaves out what costs nothing at first', () => {
    const desc = /<desc[^>]*>([\s\S]*?)<\/desc>/.exec(charts[1]![1])?.[1]
    expect(desc).toContain('Postgres, us a fire by stored schedules: 50 at 1,000, 50 at 10,000, 51.5 at 1,000,000.')
    expect(Object.keys(pageFiles([result('scale', [grows('sqlite', [0, 0, 3])])]))).toEqual(['benchmarks.md'])
  })

  it.each(charts)('can be read in the dark and without seeing it, and runs nothing: %s', (_, svg) => {
    expect(svg).toMatch(
      /role="img"[\s\S]*<title id="title">\S[\s\S]*<desc id="desc">\S[\s\S]*prefers-color-scheme: dark/,
    )
    expect(svg).not.toMatch(/<script|NaN|undefined|Infinity|pg-<boss>|href/)
    const [open, shut] = [svg.match(/<(text|title|desc|style|svg)\b/g), svg.match(/<\/(text|title|desc|style|svg)>/g)]
    expect(open?.length).toBe(shut?.length)
  })

  it('tells every figure in words', () => {
    const desc = /<desc[^>]*>([\s\S]*?)<\/desc>/.exec(charts[0]![1])?.[1]
    expect(desc).toBe('drain, 1 process: everytick 41,234 /s, pg-&lt;boss&gt; 23,456 /s, bare SQL 98,765 /s.')
  })
})

describe('the check', () => {
  it('passes when every target was measured and met, and says which aims are met', () => {
    const aims = [
      row('sqlite-a', { aim: 90 }),
      row('sqlite-b', { aim: 110 }),
      row('sqlite-c', { unit: 'ms', aim: 110, must: null }),
    ]
    const { ok, text } = checkText([...whole(), result('extra', aims)])
    expect(ok).toBe(true)
    expect(text).toMatch(/2 of 3 aims are met:\n.*sqlite-a.*\n.*sqlite-c.*\n1 of 3 aims are not met:\n.*sqlite-b/)
  })

  it('prints a missed row with its figure, what it must be, against whom, when, where and at which commit', () => {
    const { ok, text } = checkText([result('rivals', [behind])], { benchmark: 'rivals' })
    expect(ok).toBe(false)
    expect(
      text
        .split('\n')
        .slice(0, 3)
        .map((line) => line.trim()),
    ).toEqual([
      'MISSED  postgres-drain-1: drain, 1 process',
      '41,234 /s, 1.75× pg-<boss> with 23,456 /s; must be ≥ 2× pg-<boss>',
      'measured 2026-11-16 03:04 UTC on Abacus, 2 cores, 24 GB, linux x64, Node 20.19.0, at commit abc1234567 with changes that are not committed',
    ])
  })

  it('fails when any one of the targets was not measured', () => {
    for (const { benchmark, rows } of whole()) {
      for (const { id } of rows) {
        const without = (one: Result): Result => ({ ...one, rows: one.rows.filter((row) => row.id !== id) })
        const { ok, text } = checkText(whole().map((one) => (one.benchmark === benchmark ? without(one) : one)))
        expect(ok, id).toBe(false)
        expect(text).toContain(`ABSENT  ${id} of ${benchmark} was not measured`)
      }
    }
  })

  it('fails when a row that must beat the best rival had no rival', () => {
    const alone = whole().map((one) => ({ ...one, rows: one.rows.map((row) => ({ ...row, must: null })) }))
    const { ok, text } = checkText(alone)
    expect(ok).toBe(false)
    expect(text).toContain('postgres-drain-1 of rivals was measured with nobody to hold it against')
  })

  it('asks only for rows that have a target where they are made', async () => {
    const { targetOf } = await import(at('benchmarks/core/targets.mjs').href)
    const { rowsOf } = await import(at('benchmarks/rivals/rows.mjs').href)
    const parted = (ids: readonly string[]) =>
      ids.map((id) => [id.split('-')[0]!, id.slice(id.indexOf('-') + 1)] as const)
    for (const [store, id] of parted([...REQUIRED.core!, ...REQUIRED.scale!]))
      expect(targetOf(store, id).must, `${store} ${id}`).not.toBeNull()
    for (const [store, id] of parted(REQUIRED.rivals!)) {
      const seen = { [id]: [1, 1, 1] }
      const [asked] = rowsOf(store, { everytick: seen, bullmq: seen, 'graphile-worker': seen })
      expect(asked?.must ?? null, `${store} ${id}`).not.toBeNull()
    }
  })

  it('asks of a part only what the part has to answer', () => {
    const rows = REQUIRED.core!.filter((id) => id.startsWith('sqlite-')).map((id) => row(id))
    expect(checkText([result('core', rows)], { benchmark: 'core', store: 'sqlite' }).ok).toBe(true)
    expect(checkText([result('core', rows)], { benchmark: 'core' }).ok).toBe(false)
  })
})

describe('a saved result', () => {
  it('gives way to a newer one of the same store, and keeps its say on the other', () => {
    const old = result('core', [row('sqlite-a'), row('sqlite-gone'), row('postgres-a')])
    const part = result('core', [row('sqlite-a')], { store: 'sqlite', measuredAt: '2026-11-17T00:00:00.000Z' })
    const said = newestOf([part, old]).map(({ store, rows }) => [store, rows.map(({ id }) => id)])
    expect(said).toEqual([
      [null, ['postgres-a']],
      ['sqlite', ['sqlite-a']],
    ])
    expect(newestOf([{ ...part, measuredAt: '2026-11-15' }, old])).toEqual([old])
  })

  describe('that is measured part by part', () => {
    const names = ['backlog', 'idle', 'history']
    const about = (machine = {}) => {
      const { rows: _, ...facts } = result('scale', [], { store: 'postgres' })
      return { ...facts, machine: { ...facts.machine, ...machine } }
    }
    const measured = (name: string, at: string, more = {}) => ({
      about: about(),
      part: {
        ...{ name, measuredAt: `2026-11-${at}T00:00:00.000Z`, commit: { id: `c0ffee${at}`, dirty: false }, seconds: 1 },
        rows: [row(`postgres-${name}`, { ours: Number(at) })],
        ...more,
      },
    })
    const begun = withPart(null, names, measured('idle', '16'))
    const gone = withPart(begun, names, measured('backlog', '17'))

    it('says after each part which are still to come', () => {
      expect(begun.parts?.map(({ name, measuredAt }) => [name, measuredAt !== null])).toEqual([
        ['backlog', false],
        ['idle', true],
        ['history', false],
      ])
      expect(gone.rows.map(({ id }) => id)).toEqual(['postgres-backlog', 'postgres-idle'])
      expect(checkText([gone]).text).toContain(
        'scale on postgres lacks history; measure with: npm run bench -- scale --save --store postgres --part history',
      )
      expect(pageFiles([gone])['benchmarks.md']).toContain('Not measured yet: history.')
    })

    it('puts a part measured again in the place of the old one, and keeps time and commit of each', () => {
      const anew = withPart(gone, names, measured('idle', '18'))
      expect(anew.rows.map(({ id, ours }) => [id, ours])).toEqual([
        ['postgres-backlog', 17],
        ['postgres-idle', 18],
      ])
      const { text } = checkText([anew])
      expect(text).toMatch(/\(backlog\): 1 rows, measured 2026-11-17.*commit c0ffee17/)
      expect(text).toMatch(/\(idle\): 1 rows, measured 2026-11-18.*commit c0ffee18/)
      expect(pageFiles([anew])['benchmarks.md']).toMatch(
        /scale, postgres: backlog \| 2026-11-17[\s\S]*not all of one commit/,
      )
    })

    it('tells of a miss when its own part was measured', () => {
      const must = { kind: 'least', value: 50 }
      const { text } = checkText([gone], { benchmark: 'scale' })
      expect(gone.rows[1]).toMatchObject({ must, part: 'idle' })
      expect(text).toMatch(/MISSED {2}postgres-idle.*\n.*\n +measured 2026-11-16.*c0ffee16/)
    })

    it('keeps the figures of a part that fails later, and says of a first failure why', () => {
      const failure = { rows: [], failed: 'no room on the disk' }
      expect(withPart(gone, names, measured('idle', '18', failure)).rows).toEqual(gone.rows)
      const failed = withPart(gone, names, measured('history', '18', failure))
      expect(failed.parts?.[2]).toMatchObject({ measuredAt: null, failed: 'no room on the disk' })
    })

    it('forgets what was measured on another machine', () => {
      const elsewhere = { ...measured('backlog', '17'), about: about({ cpu: 'Slide rule' }) }
      expect(withPart(begun, names, elsewhere).rows.map(({ id }) => id)).toEqual(['postgres-backlog'])
    })

    it('is found again in its file, whole, after every part', () => {
      const folder = pathToFileURL(`${mkdtempSync(join(tmpdir(), 'everytick-results-'))}/`)
      try {
        for (const one of [begun, gone]) {
          expect(keep(one, folder)).toBe('scale-postgres.json')
          expect(kept({ benchmark: 'scale', store: 'postgres' }, folder)).toEqual(one)
        }
        expect(kept({ benchmark: 'scale', store: 'sqlite' }, folder)).toBeNull()
        expect(readdirSync(folder)).toEqual(['scale-postgres.json'])
      } finally {
        rmSync(folder, { recursive: true })
      }
    })
  })

  it('reads back as it was, but for digits that mean nothing', () => {
    const odd = { text: 'a [1, 2] "b"', list: [1, 2.5, 1 / 3], none: null, deep: [{ a: [] }, { b: {} }] }
    expect(JSON.parse(written(odd))).toEqual({ ...odd, list: [1, 2.5, 0.333333] })
  })
})

it.each([
  ['a quick run is not kept', ['core', '--quick', '--save']],
  ['a quick run is not judged', ['core', '--quick', '--check']],
  ['without a name nothing is kept', ['--save']],
  ['the page takes no options', ['page', '--quick']],
  ['a part alone is not judged', ['scale', '--part', 'idle', '--check']],
  ['only what has parts is measured in parts', ['core', '--part', 'idle']],
])('%s: such arguments are answered with the usage', async (_, args) => {
  const ended = await new Promise((resolve) => {
    execFile(process.execPath, [fileURLToPath(at('benchmarks/main.mjs')), ...args], (error, __, stderr) =>
      resolve({ code: error?.code, usage: stderr.startsWith('usage: ') }),
    )
  })
  expect(ended).toEqual({ code: 2, usage: true })
})
