/** Options that many commands share. */
import type { Command } from 'commander'

/** The server or database to use, and JSON output. */
export const withBackendOptions = (command: Command): Command => withJson(withWhere(command))

/** The server or database to use. */
export const withWhere = (command: Command): Command =>
  withAddress(command).option(
    '--config <file>',
    'configuration file whose store to use (default: everytick.config.ts, .js or .json here)',
  )

/** The same for commands with a `--config` of their own. */
export const withAddress = (command: Command): Command =>
  command
    .option('--url <address>', 'address of the server, such as http://localhost:4410 (or EVERYTICK_URL)')
    .option('--token <key>', 'API key for the server (or EVERYTICK_TOKEN)')
    .option('--db <address>', 'database to use instead of a server, such as sqlite:./everytick.db (or DATABASE_URL)')

export const withJson = (command: Command): Command =>
  command.option('--json [fields]', 'print JSON; with comma-separated names, only those fields')

/** For every command that writes. */
export const withDryRun = (command: Command): Command =>
  command.option('--dry-run', 'print what would change, without changing anything')

/** For paginated lists. */
export const withPages = (command: Command): Command =>
  command.option('--limit <number>', 'maximum number of items (default: 50)').option('--all', 'list all items')
