/** Defines `import crontab` and `export crontab`: the way from cron, and back. */
import { type Command, Option } from 'commander'
import type { ExportCrontabOptions } from '../commands/export-crontab.ts'
import type { ImportCrontabOptions } from '../commands/import-crontab.ts'
import type { Io } from '../io.ts'
import { withBackendOptions, withDryRun } from './options.ts'

export function registerCrontab(program: Command, io: Io): void {
  const importing = program.command('import').description('make schedules and jobs of what another scheduler has')
  withDryRun(withBackendOptions(importing.command('crontab <file>')))
    .description('a crontab, of a user or of the system; - reads standard input')
    .option('--out <file>', 'where the jobs are written, - for standard output (default: jobs.ts)')
    .option('--force', 'replace that file when it says something else')
    .option('--tz <zone>', 'the zone of lines without CRON_TZ (default: that of this machine)')
    .option('--system', 'each line has a user before its command')
    .option('--no-system', 'no line has one (default: it shows)')
    .option('--user <name>', 'only lines of this user')
    .option('--workspace <name>', 'whose schedules these will be (default: default)')
    .option('--key-prefix <text>', 'what all keys and jobs begin with')
    .option('--tag <tag>', 'what all schedules are tagged with (default: crontab)')
    .option('--job <name>', 'a job of yours that takes the command as payload, instead of a file of jobs')
    .addOption(
      new Option('--overlap <policy>', 'while the run before goes on (default: allow, as cron does)').choices([
        ...['skip', 'queue', 'queue_one', 'cancel_previous', 'allow'],
      ]),
    )
    .addOption(
      new Option('--catch-up <policy>', 'what was missed (default: none, as cron does)').choices([
        ...['none', 'latest', 'all'],
      ]),
    )
    .option('--skip-unsupported', 'leave out lines that cannot be carried over')
    .option('--prune', 'remove schedules with that tag which the file does not have')
    .option('--yes', 'do not ask before something is removed')
    .action(async (file: string, options: ImportCrontabOptions) => {
      const { importCrontab } = await import('../commands/import-crontab.ts')
      await importCrontab(file, options, io)
    })

  const exporting = program.command('export').description('write schedules for another scheduler')
  withBackendOptions(exporting.command('crontab'))
    .description('a crontab of the schedules that one can hold')
    .option('--out <file>', 'where to write it (default: standard output)')
    .option('--force', 'replace that file when it says something else')
    .option('--workspace <name>', 'whose schedules (default: default)')
    .action(async (options: ExportCrontabOptions) => {
      const { exportCrontab } = await import('../commands/export-crontab.ts')
      await exportCrontab(options, io)
    })
}
