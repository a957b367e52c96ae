/** The files of a new project, as text. */
import { ownVersion } from '../config.ts'

export interface StarterFile {
  readonly path: string
  readonly text: string
}

export const starterFiles = (name: string): readonly StarterFile[] => [
  { path: 'package.json', text: manifest(name) },
  { path: 'jobs.ts', text: JOBS },
  { path: 'everytick.config.ts', text: CONFIG },
  { path: 'tsconfig.json', text: TSCONFIG },
  { path: '.gitignore', text: 'node_modules/\n.everytick/\n*.db*\n' },
  { path: 'README.md', text: readme(name) },
]

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const manifest = (name: string): string =>
  json({
    name,
    private: true,
    type: 'module',
    scripts: { dev: 'everytick dev', worker: 'everytick worker', sync: 'everytick sync' },
    dependencies: { everytick: `^${ownVersion()}` },
  })

const JOBS = `import { defineJob } from 'everytick'

export const hello = defineJob({
  name: 'hello',
  run(ctx) {
    ctx.log.info('hello', { attempt: ctx.run.attempt })
    return { at: ctx.run.scheduledAt }
  },
})

export const report = defineJob({
  name: 'report',
  timeout: '1m',
  retry: { attempts: 5, backoff: 'exponential' },
  async run(ctx) {
    for (const step of [0.25, 0.5, 0.75]) {
      ctx.progress(step, 'rendering')
      // Ends early when the run is cancelled or loses its lease.
      ctx.signal.throwIfAborted()
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    return { pages: 3 }
  },
})
`

const CONFIG = `import { defineConfig, schedule } from 'everytick'
import { hello, report } from './jobs.ts'

export default defineConfig({
  // Without a store, 'everytick dev' uses .everytick/dev.db. For a server, set one here:
  // store: process.env.DATABASE_URL ?? 'sqlite:./everytick.db',
  jobs: [hello, report],
  schedules: [
    schedule({ key: 'hello', every: '5s', job: hello }),
    schedule({ key: 'nightly-report', cron: '30 2 * * *', timezone: 'Europe/Berlin', job: report }),
  ],
})
`

const TSCONFIG = json({
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
  },
})

const readme = (name: string): string => `# ${name}

Jobs that run by schedule, with Everytick.

\`\`\`sh
npm install
npx everytick dev                    # runs them here on SQLite, and loads them again when they change
npx everytick next "30 2 * * *" --tz Europe/Berlin
\`\`\`

| File | What is in it |
|---|---|
| jobs.ts | the work |
| everytick.config.ts | when it is done |
`
