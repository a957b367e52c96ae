/** Holds src/ to the drawing in ARCHITECTURE.md: who imports whom, who reads the clock and the environment, how files are named. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import {
  arrowsToTheRight,
  clockReaders,
  type Drawing,
  emptyNames,
  environmentReaders,
  filesWithoutRoom,
  filesWithoutSentence,
  foreignImports,
  importCircles,
  importsOfTests,
  type Source,
  sourceOf,
} from './source-rules.ts'
import { importsOf, scan } from './source-scan.ts'

/** The arrows: a room may import from itself and from the rooms named beside it, which all stand above it. */
const ARROWS: Record<string, string> = {
  errors: '',
  time: 'errors',
  run: 'errors time',
  schedule: 'errors time run',
  workspace: 'errors time',
  plan: 'errors time schedule run workspace',
  observe: 'errors time schedule run workspace plan',
  'store/contract': 'errors time schedule run workspace plan observe',
  store: 'errors time schedule run workspace plan observe store/contract',
  'store/sqlite': 'errors time schedule run workspace plan observe store/contract store',
  'store/postgres': 'errors time schedule run workspace plan observe store/contract store',
  engine: 'errors time schedule run workspace plan observe store/contract',
  scheduler: 'errors time schedule run workspace plan observe store/contract store store/sqlite store/postgres engine',
  targets: 'errors time schedule run workspace plan observe store/contract engine scheduler',
  server: 'errors time schedule run workspace plan observe store/contract engine scheduler targets',
  cli: 'errors time schedule run workspace plan observe store/contract store store/sqlite store/postgres engine scheduler targets server',
  testing: 'errors time schedule run workspace plan observe store/contract store store/sqlite engine scheduler',
  'schedule-index': 'errors time schedule',
}

/** Files at the root of src/ that belong to a room; every other one there must be a door that package.json exports. */
const ROOT_FILES: Record<string, string> = {
  'errors.ts': 'errors',
  'did-you-mean.ts': 'errors',
  'json.ts': 'errors',
  'printable.ts': 'errors',
  'scheduler.ts': 'scheduler',
  'options.ts': 'scheduler',
  'job.ts': 'scheduler',
  'schedule-definition.ts': 'scheduler',
  'open-store.ts': 'scheduler',
  'uuid.ts': 'scheduler',
  'everytick.ts': 'server',
}

interface Package {
  readonly dependencies?: Record<string, string>
  readonly exports: Record<string, string | { readonly default: string }>
}

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const ours: Package = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const { TAKEN_IN }: { TAKEN_IN: string[] } = await import(pathToFileURL(join(root, 'scripts/bundle.mjs')).href)
const packages = new Set([...Object.keys(ours.dependencies ?? {}), ...TAKEN_IN])
/** Suites for the user's own stores run under the user's own vitest. */
const isSuite = (arrow: string): boolean => /^(testing|schedule-index)\/conformance\/\S+ → vitest$/.test(arrow)
/** Looked for when it is needed: the first is done without, and for the others an error says what to install. */
const isOptional = (arrow: string): boolean =>
  arrow === 'scheduler/tracing.ts → @opentelemetry/api' ||
  /^targets\/bullmq\/\S+ → bullmq$/.test(arrow) ||
  /^targets\/sqs\/\S+ → @aws-sdk\/client-sqs$/.test(arrow)
/** The user's own file, whose name nobody knows beforehand. */
const isUsers = (arrow: string): boolean => arrow === 'cli/user-module.ts → (computed)'
const doors = new Set(
  Object.values(ours.exports)
    .map((target) => (typeof target === 'string' ? target : target.default))
    .map((target) => target.replace('./dist/', '').replace(/\.js$/, '.ts')),
)
const drawing: Drawing = { arrows: ARROWS, rootFiles: ROOT_FILES, doors }

const all: Source[] = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => sourceOf(name, readFileSync(join(root, 'src', name), 'utf8')))
const sources = all.filter(({ path }) => !path.endsWith('.test.ts'))
/** They need a server, which test/postgres starts; they have yet to move to test/. */
const needsServer = (arrow: string): boolean => /^store\/postgres\/\S+\.test\.ts → \S+\/test\/postgres\//.test(arrow)

/** A made-up tree, from paths under src/ to texts. */
const tree = (files: Record<string, string>): Source[] => Object.entries(files).map((file) => sourceOf(...file))

/** Those of the texts that break a rule when they stand in a file of their own. */
const breaching = (texts: readonly string[], rule: (files: readonly Source[]) => string[]): string[] =>
  texts.filter((text) => rule([sourceOf('plan/plan.ts', text)]).length > 0)

describe('the scanner behind these rules', () => {
  it('finds every kind of import and is not taken in by comments, texts, templates and patterns', () => {
    const text = `import a from './a.ts'
      import type { B } from "./b.ts" // from './not-1.ts'
      import './c.ts'
      export * from './d.ts'
      export {
        e,
      } from './e.ts'
      const f = await import('./f.ts')
      type G = import('./g.ts').G
      /* import './not-2.ts' */ const t = \`import './not-3.ts' \${(() => { return \`}\${'\`'}\` })()} from './not-4.ts'\`
      const p = /[/"']from '/.test(x) ? 4 / 2 : x / y
      const q = Array.from('abc'), r = { from: 'abc' }, s = ' from "./not-5.ts"'
      const u = await import(name)`
    const found = ['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts', './f.ts', './g.ts', '(computed)']
    expect(importsOf(scan(text))).toEqual(found)
  })

  it('keeps every character where it was', () => {
    for (const file of sources) expect(file.scan.code.length).toBe(file.text.length)
  })
})

describe('the rooms', () => {
  it('have a place for every file', () => {
    expect(filesWithoutRoom(sources, drawing)).toEqual([])
    const bad = tree({ 'stray.ts': '', 'attic/box.ts': '', 'errors.ts': '', 'store/sqlite/rows.ts': '', 'cron.ts': '' })
    expect(filesWithoutRoom(bad, drawing)).toEqual(['stray.ts', 'attic/box.ts'])
  })

  it('are drawn so that no arrow can lead back', () => {
    const order = Object.keys(ARROWS)
    for (const [at, room] of order.entries())
      for (const other of ARROWS[room]!.split(' ').filter(Boolean)) expect(order.slice(0, at)).toContain(other)
  })

  it('import only from rooms to their left', () => {
    expect(arrowsToTheRight(sources, drawing)).toEqual([])
    const bad = tree({
      'run/settle.ts': "import { parseCron } from '../schedule/cron.ts'",
      'engine/worker.ts': "import { open } from '../store/sqlite/connection.ts'",
      'store/sqlite/claims.ts': "import type { Claims } from '../contract/claims.ts'\nimport '../postgres/claims.ts'",
      'time/clock.ts': "export * from '../cron.ts'",
      'cron.ts': "export * from './schedule/cron.ts'\nexport { now } from './time/clock.ts'",
    })
    expect(arrowsToTheRight(bad, drawing)).toEqual([
      'run/settle.ts → schedule/cron.ts: run may not import schedule',
      'engine/worker.ts → store/sqlite/connection.ts: engine may not import store/sqlite',
      'store/sqlite/claims.ts → store/postgres/claims.ts: store/sqlite may not import store/postgres',
      'time/clock.ts → cron.ts: time may not import door',
    ])
  })

  it('import only their own files, Node, and packages a user gets with ours', () => {
    expect(
      foreignImports(sources, packages).filter((arrow) => !isSuite(arrow) && !isOptional(arrow) && !isUsers(arrow)),
    ).toEqual([])
    const bad = tree({
      'time/clock.ts': "import 'node:fs'\nimport 'commander'\nimport './gone.ts'\nimport './clock'",
      'schedule/cron.ts':
        "import { Cron } from 'croner'\nimport { it } from 'vitest'\nimport '../../test/reference.ts'",
      'plan/plan.ts': "import '@biomejs/biome/x'\nimport 'fs'\nconst lazy = () => import(name)",
    })
    expect(foreignImports(bad, packages)).toEqual([
      'time/clock.ts → ./gone.ts',
      'time/clock.ts → ./clock',
      'schedule/cron.ts → croner',
      'schedule/cron.ts → vitest',
      'schedule/cron.ts → ../../test/reference.ts',
      'plan/plan.ts → @biomejs/biome/x',
      'plan/plan.ts → fs',
      'plan/plan.ts → (computed)',
    ])
  })

  it('import nothing from test/, not even their tests', () => {
    expect(importsOfTests(all).filter((arrow) => !needsServer(arrow))).toEqual([])
    const bad = tree({
      'plan/plan.test.ts': "import './plan.ts'\nimport { page } from '../../test/markdown.ts'",
      'cron.test.ts': "import { it } from 'vitest'\nimport '../test/time/seed.ts'",
    })
    expect(importsOfTests(bad)).toEqual([
      'plan/plan.test.ts → ../../test/markdown.ts',
      'cron.test.ts → ../test/time/seed.ts',
    ])
  })

  it('hold no circle of imports', () => {
    expect(importCircles(sources)).toEqual([])
    const bad = tree({
      'plan/a.ts': "import './b.ts'",
      'plan/b.ts': "import type { C } from './c.ts'",
      'plan/c.ts': "export * from './a.ts'",
      'plan/d.ts': "import './a.ts'\nimport './b.ts'",
    })
    expect(importCircles(bad)).toEqual(['plan/a.ts → plan/b.ts → plan/c.ts → plan/a.ts'])
  })
})

describe('the outside world', () => {
  it('shows its clock to one file only', () => {
    expect(clockReaders(sources)).toEqual(['time/clock.ts'])
    const bad = ['Date.now()', 'new Date()', 'new Date', 'new Date( /* now */ )', 'Date()', 'performance.now()']
    const good = [
      'new Date(0) // Date.now()',
      "'Date.now()'",
      'new Date(at)',
      'x as Date',
      'new DateRange()',
      '`Date()`',
    ]
    expect(breaching([...bad, ...good, `\`\${Date.now()}\``], clockReaders)).toEqual([...bad, `\`\${Date.now()}\``])
  })

  it('shows its environment to one file only', () => {
    expect(environmentReaders(sources).filter((path) => path !== 'cli/config.ts')).toEqual([])
    const bad = ['process.env.HOME', 'process?.env', "process['env']", 'const { argv, env } = process']
    const imported = "import { env } from 'node:process'"
    const good = ['process.argv', "'process.env'", '// process.env', 'context.env', 'const { env } = context']
    expect(breaching([...bad, imported, ...good], environmentReaders)).toEqual([...bad, imported])
  })
})

describe('the files', () => {
  it('open with a sentence that says what they decide', () => {
    expect(filesWithoutSentence(sources)).toEqual([])
    const good = [
      '/** Decides. */',
      '#!/usr/bin/env node\n/** Starts. */',
      '/**\n * Decides a/b; leaves c.\n */\nlet x',
    ]
    const bad = [
      '',
      'let x',
      '/* No doc. */',
      '/** */',
      '/** no end */',
      '// x\n/** Late. */',
      '/** no end */ /** x. */',
    ]
    expect(breaching([...good, ...bad], filesWithoutSentence)).toEqual(bad)
  })

  it('are named for what is in them', () => {
    expect(emptyNames(sources)).toEqual([])
    const bad = [
      'plan/utils.ts',
      'helpers/plan.ts',
      'plan/types.ts',
      'plan/run-manager.ts',
      'plan/catchUp.ts',
      'plan/Run.ts',
    ]
    const good = ['plan/catch-up.ts', 'store/sqlite/migrations/0001-schema.ts', 'index.ts']
    expect(emptyNames(tree(Object.fromEntries([...bad, ...good].map((path) => [path, '']))))).toEqual(bad)
  })
})
