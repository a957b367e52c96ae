/** Defines `next` and `explain`; neither loads anything of the server, unless `next` is asked about a stored schedule. */
import { type Command, Option } from 'commander'
import type { StoredNextOptions } from '../commands/next-stored.ts'
import type { Io } from '../io.ts'
import type { TimingOptions } from '../timing-input.ts'
import { withWhere } from './options.ts'

export function registerTime(program: Command, io: Io): void {
  withWhere(withTimingOptions(program.command('next')))
    .description('print the coming occurrences of a cron expression, or of a stored schedule by its name')
    .option('-n, --count <number>', 'how many, 1 to 1000', '5')
    .action(async (words: string[], options: StoredNextOptions) => {
      const [{ next }, view] = await Promise.all([import('../commands/next.ts'), io.view()])
      if (!isName(words)) return io.write(next(words, options, view))
      const { nextStored } = await import('../commands/next-stored.ts')
      io.write(await nextStored(words[0]!, options, view))
    })

  withTimingOptions(program.command('explain'))
    .description('say what a cron expression means, and what to mind')
    .action(async (words: string[], options: TimingOptions) => {
      const [{ explain }, view] = await Promise.all([import('../commands/explain.ts'), io.view()])
      io.write(explain(words, options, view))
    })
}

/** One word that is neither a macro nor made of the signs of a field can only be the name of a schedule: expressions have five fields. */
export const isName = (words: readonly string[]): boolean =>
  words.length === 1 && /^[^@\s]\S*$/u.test(words[0]!) && !/^[\d*/,?#-]+$/.test(words[0]!)

/** What is said about a timing that is not stored. */
export function withTimingOptions(command: Command): Command {
  return command
    .argument('[expression...]', 'five or six fields, a macro, or "@every 5m"; best in quotes')
    .option('--tz <zone>', 'IANA time zone (default: UTC)')
    .option('--from <instant>', 'start here instead of now, like 2027-01-04T09:00:00Z')
    .addOption(new Option('--gap <rule>', 'a time the clock jumps over').choices(['shift', 'skip']))
    .addOption(new Option('--fold <rule>', 'a time that happens twice').choices(['first', 'second', 'both']))
    .option('--seed <text>', 'what H is derived from, such as workspace/key')
    .option('--json', 'print JSON')
}
