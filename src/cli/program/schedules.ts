/** The commands on schedules: `schedules`, `trigger`, `backfill`; what each does is under commands/. */
import { type Command, Option } from 'commander'
import type { BackendOptions } from '../backend.ts'
import type { ChangeOptions } from '../change.ts'
import type { BackfillOptions } from '../commands/backfill.ts'
import type { StateOptions, StateVerb } from '../commands/schedules-state.ts'
import type { CreateOptions, EditOptions } from '../commands/schedules-write.ts'
import type { TriggerOptions } from '../commands/trigger.ts'
import type { Io } from '../io.ts'
import type { ListOptions } from '../listing.ts'
import { withBulkOptions } from './bulk-options.ts'
import { withBackendOptions, withDryRun, withPages } from './options.ts'
import { withSpecOptions } from './spec-options.ts'

export function registerSchedules(program: Command, io: Io): void {
  const schedules = program.command('schedules').description('list, make, change, pause and remove schedules')
  withPages(withBackendOptions(schedules.command('ls [query...]')))
    .description('list schedules, with their next fire and last ten runs')
    .addHelpText(
      'after',
      '\nQuery: workspace:t_42 tag:mail job:x source:code paused:true health:overdue, or text to look for.',
    )
    .action(async (words: string[], options: ListOptions & BackendOptions) => {
      const [{ listSchedules }, { runCommand }] = await Promise.all([import('../commands/schedules.ts'), context()])
      await runCommand(io, options, (at) => listSchedules(at, words, options))
    })
  withBackendOptions(schedules.command('get <schedule>'))
    .description('show one schedule: key, or workspace/key')
    .action(async (name: string, options: ChangeOptions) => {
      const [{ getSchedule }, { runCommand }] = await Promise.all([import('../commands/schedules.ts'), context()])
      await runCommand(io, options, (at) => getSchedule(at, name, options))
    })
  withDryRun(withSpecOptions(withBackendOptions(schedules.command('create <schedule>'))))
    .description('make a schedule; refused when there is one of this name')
    .option('--paused [reason]', 'create it paused: it does not fire until it is resumed')
    .action(async (name: string, options: CreateOptions & BackendOptions) => {
      const [{ createSchedule }, { runCommand }] = await Promise.all([
        import('../commands/schedules-write.ts'),
        context(),
      ])
      await runCommand(io, options, (at) => createSchedule(at, name, options))
    })
  withDryRun(
    withBulkOptions(withSpecOptions(withBackendOptions(schedules.command('edit [schedule]'))), 'tag=mail --jitter 5m'),
  )
    .description('change what is named of a schedule; the rest stays')
    .option('--unset <fields>', 'fields that go back to their default, such as timeout,jitter')
    .option('--force', 'also where code declares it, until that is synced again')
    .action(async (name: string | undefined, options: EditOptions & StateOptions) => {
      const [{ editSchedules }, { runCommand }] = await Promise.all([
        import('../commands/schedules-write.ts'),
        context(),
      ])
      await runCommand(io, options, (at) => editSchedules(at, name, options))
    })
  const changing = (verb: StateVerb, about: string): Command =>
    withDryRun(withBulkOptions(withBackendOptions(schedules.command(`${verb} [schedules...]`)), 'tag=mail'))
      .description(about)
      .action(async (names: string[], options: StateOptions) => {
        const [{ changeSchedules }, { runCommand }] = await Promise.all([
          import('../commands/schedules-state.ts'),
          context(),
        ])
        await runCommand(io, options, (at) => changeSchedules(at, { verb, names }, options))
      })
  changing('pause', 'pause schedules; runs already due or running go on')
    .option('--reason <text>', 'for those who find it paused')
    .option('--until <instant>', 'resume by itself then')
  changing('resume', 'resume schedules').addOption(
    new Option('--from <what>', 'skip what passed, or leave it to the catch-up policy').choices(['now', 'catchUp']),
  )
  changing('rm', 'remove schedules and their runs still to come; asks first')

  registerTrigger(program, io)
  registerBackfill(program, io)
}

function registerTrigger(program: Command, io: Io): void {
  withDryRun(withBulkOptions(withBackendOptions(program.command('trigger [schedule]')), 'tag=mail'))
    .description('make one run of a schedule now')
    .option('--payload <json>', "instead of the schedule's own")
    .option('--overlap <policy>', 'queue (behind a run in flight) or allow')
    .action(async (name: string | undefined, options: TriggerOptions) => {
      const [{ trigger }, { runCommand }] = await Promise.all([import('../commands/trigger.ts'), context()])
      await runCommand(io, options, (at) => trigger(at, name, options))
    })
}

function registerBackfill(program: Command, io: Io): void {
  const backfill = withDryRun(withBackendOptions(program.command('backfill [schedule]')))
    .description('run afterwards the occurrences of a past span; asks first')
    .option('--from <instant>', 'the first, such as 2026-11-01 or 2026-11-01T00:00:00Z')
    .option('--to <instant>', 'the last')
    .option('--concurrency <number>', 'how many runs at once (default: 1)')
    .option('--force', 'run again what ran already')
    .option('--payload <json>', "instead of the schedule's own")
    .option('--yes', 'do not ask')
    .option('--detach', 'do not wait until it is done')
    .action(async (name: string | undefined, options: BackfillOptions & BackendOptions) => {
      const [{ backfill: work }, { runCommand }] = await Promise.all([import('../commands/backfill.ts'), context()])
      await runCommand(io, options, (at) => work(at, name, options))
    })
  // What it shares with its subcommands, it takes for its own, wherever it stands.
  const said = (command: Command): ChangeOptions => command.optsWithGlobals<ChangeOptions>()
  withBackendOptions(backfill.command('watch <id>'))
    .description('watch a backfill until it is done')
    .action(async (id: string, _: unknown, command: Command) => {
      const options = said(command)
      const [{ watchBackfill }, { runCommand }] = await Promise.all([
        import('../commands/backfill-watch.ts'),
        context(),
      ])
      await runCommand(io, options, (at) => watchBackfill(at, id, options))
    })
  withBackendOptions(backfill.command('ls [schedule]'))
    .description('the backfills of a schedule, or of all, newest first, at most 50')
    .action(async (name: string | undefined, _: unknown, command: Command) => {
      const options = said(command)
      const [{ listBackfills }, { runCommand }] = await Promise.all([import('../commands/backfill.ts'), context()])
      await runCommand(io, options, (at) => listBackfills(at, name, options))
    })
  withDryRun(withBackendOptions(backfill.command('cancel <id>')))
    .description('make no more runs of a backfill, and cancel those that have not ended')
    .action(async (id: string, _: unknown, command: Command) => {
      const options = said(command)
      const [{ cancelBackfill }, { runCommand }] = await Promise.all([import('../commands/backfill.ts'), context()])
      await runCommand(io, options, (at) => cancelBackfill(at, id, options))
    })
}

const context = () => import('../command-context.ts')
