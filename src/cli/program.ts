/** The commands and options of the command line and their help; each command's work is loaded only when it is called. */
import { Command, CommanderError, Option } from 'commander'
import type { MigrateOptions } from './commands/migrate.ts'
import type { NextOptions } from './commands/next.ts'
import type { SampleOptions } from './commands/sample.ts'
import { surroundings } from './config.ts'
import type { View } from './print.ts'
import type { TimingOptions } from './timing-input.ts'

const EXAMPLES = `
Examples:
  everytick next "*/5 * * * *"
  everytick next "30 9 * * 1-5" --tz America/New_York -n 3
  everytick next "30 2 * * *" --tz Europe/Berlin --from 2027-03-27T00:00:00Z --json
  everytick explain "0 18 L * *" --tz Asia/Tokyo

Tables on a terminal, tab-separated rows in a pipe, --json for programs.
Exit codes: 0 ok, 1 failed, 2 usage, 3 not found or conflict, 4 auth, 5 check failed.
`

/** Thrown by commander for --version; printing it needs the zone data, which nothing else at the top level does. */
export const isVersionQuestion = (error: unknown): boolean =>
  error instanceof CommanderError && error.code === VERSION_ASKED
/** Thrown by commander once it has printed help that was asked for. */
export const isHelpShown = (error: unknown): boolean => error instanceof CommanderError && error.exitCode === 0

const VERSION_ASKED = 'everytick.version'

export function createProgram(write: (text: string) => void): Command {
  const program = new Command('everytick')
    .description('Durable cron and job scheduler for TypeScript.')
    .option('-V, --version', 'print the version and that of the time-zone data')
    .helpOption('-h, --help', 'print help')
    .exitOverride()
    // What went wrong is printed in one place and one form, so commander keeps silent about it.
    .configureOutput({ writeOut: write, writeErr: () => {}, outputError: () => {} })
    .addHelpText('after', EXAMPLES)
    .on('option:version', () => {
      throw new CommanderError(0, VERSION_ASKED, '')
    })

  withTimingOptions(program.command('next'))
    .description('print the coming occurrences of a cron expression')
    .option('-n, --count <number>', 'how many, 1 to 1000', '5')
    .action(async (words: string[], options: NextOptions) => {
      const [{ next }, shown] = await Promise.all([import('./commands/next.ts'), view()])
      write(next(words, options, shown))
    })

  withTimingOptions(program.command('explain'))
    .description('say what a cron expression means, and what to mind')
    .action(async (words: string[], options: TimingOptions) => {
      const [{ explain }, shown] = await Promise.all([import('./commands/explain.ts'), view()])
      write(explain(words, options, shown))
    })

  program
    .command('sample')
    .description('run the scheduler on SQLite with a few schedules, a line per run')
    .option('--db <path>', 'where the database lies', '.everytick/sample.db')
    .option('--seconds <number>', 'stop by itself after so long')
    .action(async (options: SampleOptions) => {
      const [{ sample }, shown] = await Promise.all([import('./commands/sample.ts'), view()])
      await sample(options, shown, write)
    })

  program
    .command('migrate')
    .description('bring a database up to date, or print the SQL that does')
    .requiredOption('--db <address>', 'sqlite:./everytick.db or postgres://user@host/database')
    .option('--sql', 'print the SQL for an empty database instead, and open nothing')
    .action(async (options: MigrateOptions) => {
      const { migrate } = await import('./commands/migrate.ts')
      write(await migrate(options))
    })

  return program
}

function withTimingOptions(command: Command): Command {
  return command
    .argument('[expression...]', 'five or six fields, a macro, or "@every 5m"; best in quotes')
    .option('--tz <zone>', 'IANA time zone (default: UTC)')
    .option('--from <instant>', 'start here instead of now, like 2027-01-04T09:00:00Z')
    .addOption(new Option('--gap <rule>', 'a time the clock jumps over').choices(['shift', 'skip']))
    .addOption(new Option('--fold <rule>', 'a time that happens twice').choices(['first', 'second', 'both']))
    .option('--seed <text>', 'what H is derived from, such as workspace/key')
    .option('--json', 'print JSON')
}

async function view(): Promise<View> {
  const { viewOf } = await import('./print.ts')
  return viewOf(surroundings())
}
