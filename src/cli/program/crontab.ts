/** Defines `import crontab` and `export crontab`: moving from cron, and back. */
import { type Command, Option } from 'commander'
import type { ExportCrontabOptions } from '../commands/export-crontab.ts'
import type { ImportCrontabOptions } from '../commands/import-crontab.ts'
import type { Io } from '../io.ts'
import { withBackendOptions, withDryRun } from './options.ts'

export function registerCrontab(program: Command, io: Io): void {
  const importing = program.command('import').description('import schedules and jobs from another scheduler')
  withDryRun(withBackendOptions(importing.command('crontab <file>')))
    .description('import the crontab of a user or of the system; - reads standard input')
    .option('--out <file>', 'file to write the jobs to, - for standard output (default: jobs.ts)')
    .option('--force', 'overwrite the file if its content differs')
    .option('--tz <zone>', 'time zone of lines without CRON_TZ (default: the zone of this machine)')
    .option('--system', 'each line names a user before its command')
    .option('--no-system', 'no line names a user (default: detected)')
    .option('--user <name>', 'only lines of this user')
    .option('--workspace <name>', 'workspace of the schedules (default: default)')
    .option('--key-prefix <text>', 'prefix of all keys and job names')
    .option('--tag <tag>', 'tag of all schedules (default: crontab)')
    .option('--job <name>', 'use this job of yours, with the command as its payload, instead of writing a jobs file')
    .addOption(
      new Option(
        '--overlap <policy>',
        'what to do while the previous run is active (default: allow, as cron does)',
      ).choices([...['skip', 'queue', 'queue_one', 'cancel_previous', 'allow']]),
    )
    .addOption(
      new Option('--catch-up <policy>', 'what to do with missed occurrences (default: none, as cron does)').choices([
        ...['none', 'latest', 'all'],
      ]),
    )
    .option('--skip-unsupported', 'skip lines that cannot be imported')
    .option('--prune', 'remove schedules that have the tag and are not in the file')
    .option('--yes', 'remove schedules without asking for confirmation')
    .action(async (file: string, options: ImportCrontabOptions) => {
      const { importCrontab } = await import('../commands/import-crontab.ts')
      await importCrontab(file, options, io)
    })

  const exporting = program.command('export').description('export schedules to another scheduler')
  withBackendOptions(exporting.command('crontab'))
    .description('write the schedules that a crontab can express')
    .option('--out <file>', 'file to write (default: standard output)')
    .option('--force', 'overwrite the file if its content differs')
    .option('--workspace <name>', 'workspace of the schedules (default: default)')
    .action(async (options: ExportCrontabOptions) => {
      const { exportCrontab } = await import('../commands/export-crontab.ts')
      await exportCrontab(options, io)
    })
}
