/** Defines `next` and `explain`; neither loads server code, except `next` for a stored schedule. */
import { type Command, Option } from 'commander'
import type { StoredNextOptions } from '../commands/next-stored.ts'
import type { Io } from '../io.ts'
import type { TimingOptions } from '../timing-input.ts'
import { withWhere } from './options.ts'

export function registerTime(program: Command, io: Io): void {
  withWhere(withTimingOptions(program.command('next')))
    .description('print the next occurrences of a cron expression or of a stored schedule')
    .option('-n, --count <number>', 'number of occurrences, 1 to 1000', '5')
    .action(async (words: string[], options: StoredNextOptions) => {
      const [{ next }, view] = await Promise.all([import('../commands/next.ts'), io.view()])
      if (!isName(words)) return io.write(next(words, options, view))
      const { nextStored } = await import('../commands/next-stored.ts')
      io.write(await nextStored(words[0]!, options, view))
    })

  withTimingOptions(program.command('explain'))
    .description('explain a cron expression in words, with warnings')
    .action(async (words: string[], options: TimingOptions) => {
      const [{ explain }, view] = await Promise.all([import('../commands/explain.ts'), io.view()])
      io.write(explain(words, options, view))
    })
}

/** Expressions have five fields, so a single word that is neither a macro nor made of cron characters is a schedule name. */
export const isName = (words: readonly string[]): boolean =>
  words.length === 1 && /^[^@\s]\S*$/u.test(words[0]!) && !/^[\d*/,?#-]+$/.test(words[0]!)

/** The options of a timing that is not stored. */
export function withTimingOptions(command: Command): Command {
  return command
    .argument('[expression...]', 'five or six fields, a macro, or "@every 5m"; put it in quotes')
    .option('--tz <zone>', 'IANA time zone (default: UTC)')
    .option('--from <instant>', 'start at this instant instead of now, such as 2027-01-04T09:00:00Z')
    .addOption(
      new Option('--gap <rule>', 'what to do with a local time that the clock skips').choices(['shift', 'skip']),
    )
    .addOption(
      new Option('--fold <rule>', 'which pass runs for a local time that occurs twice').choices([
        'first',
        'second',
        'both',
      ]),
    )
    .option('--seed <text>', 'seed that H is derived from, such as workspace/key')
    .option('--json', 'print JSON')
}
