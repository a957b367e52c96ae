/** Options that many commands share. */
import type { Command } from 'commander'

/** Which server or database is meant, and JSON for programs. */
export const withBackendOptions = (command: Command): Command => withJson(withWhere(command))

/** Which server or database is meant. */
export const withWhere = (command: Command): Command =>
  withAddress(command).option(
    '--config <file>',
    'a configuration whose store is meant (default: everytick.config.ts, .js or .json here)',
  )

/** The same for commands with a `--config` of their own. */
export const withAddress = (command: Command): Command =>
  command
    .option('--url <address>', 'a server, such as http://localhost:4410 (or EVERYTICK_URL)')
    .option('--token <key>', 'a key of that server (or EVERYTICK_TOKEN)')
    .option('--db <address>', 'a database instead, such as sqlite:./everytick.db (or DATABASE_URL)')

export const withJson = (command: Command): Command =>
  command.option('--json [fields]', 'print JSON; with names joined by commas, only those fields')

/** For everything that writes. */
export const withDryRun = (command: Command): Command =>
  command.option('--dry-run', 'say what would be done, and change nothing')

/** For lists that come in pages. */
export const withPages = (command: Command): Command =>
  command.option('--limit <number>', 'how many at most (default: 50)').option('--all', 'all of them')
