/** Defines `schedules`, `trigger` and `backfill`, the commands on schedules; commands/ implements each. */
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
  const schedules = program.command('schedules').description('list, create, edit, pause and remove schedules')
  withPages(withBackendOptions(schedules.command('ls [query...]')))
    .description('list schedules with their next fire and their last ten runs')
    .addHelpText(
      'after',
      '\nQuery: workspace:t_42 tag:mail job:x source:code paused:true health:overdue, or text to search for.',
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
    .description('create a schedule; fails if one with this key exists')
    .option('--paused [reason]', 'create the schedule paused; it does not fire until you resume it')
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
    .description('change fields of a schedule; options you omit keep their values')
    .option('--unset <fields>', 'reset these fields to their defaults, such as timeout,jitter')
    .option('--force', 'also edit a schedule declared in code; the next sync overwrites the change')
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
  changing('pause', 'pause schedules; runs already due or running continue')
    .option('--reason <text>', 'why the schedule is paused')
    .option('--until <instant>', 'resume automatically at this instant')
  changing('resume', 'resume schedules').addOption(
    new Option('--from <what>', 'skip occurrences missed during the pause, or apply the catch-up policy').choices([
      'now',
      'catchUp',
    ]),
  )
  changing('rm', 'remove schedules and their pending runs (asks for confirmation)')

  registerTrigger(program, io)
  registerBackfill(program, io)
}

function registerTrigger(program: Command, io: Io): void {
  withDryRun(withBulkOptions(withBackendOptions(program.command('trigger [schedule]')), 'tag=mail'))
    .description('run a schedule once, now')
    .option('--payload <json>', "payload to use instead of the schedule's own")
    .option('--overlap <policy>', 'queue (wait for the active run) or allow')
    .action(async (name: string | undefined, options: TriggerOptions) => {
      const [{ trigger }, { runCommand }] = await Promise.all([import('../commands/trigger.ts'), context()])
      await runCommand(io, options, (at) => trigger(at, name, options))
    })
}

function registerBackfill(program: Command, io: Io): void {
  const backfill = withDryRun(withBackendOptions(program.command('backfill [schedule]')))
    .description('run past occurrences of a schedule (asks for confirmation)')
    .option('--from <instant>', 'start of the period, such as 2026-11-01 or 2026-11-01T00:00:00Z')
    .option('--to <instant>', 'end of the period')
    .option('--concurrency <number>', 'maximum runs at once (default: 1)')
    .option('--force', 'also run occurrences that already ran')
    .option('--payload <json>', "payload to use instead of the schedule's own")
    .option('--yes', 'do not ask for confirmation')
    .option('--detach', 'exit without waiting for the backfill to finish')
    .action(async (name: string | undefined, options: BackfillOptions & BackendOptions) => {
      const [{ backfill: work }, { runCommand }] = await Promise.all([import('../commands/backfill.ts'), context()])
      await runCommand(io, options, (at) => work(at, name, options))
    })
  // Commander gives an option that the parent also has to the parent, wherever it is on the line.
  const said = (command: Command): ChangeOptions => command.optsWithGlobals<ChangeOptions>()
  withBackendOptions(backfill.command('watch <id>'))
    .description('watch a backfill until it ends')
    .action(async (id: string, _: unknown, command: Command) => {
      const options = said(command)
      const [{ watchBackfill }, { runCommand }] = await Promise.all([
        import('../commands/backfill-watch.ts'),
        context(),
      ])
      await runCommand(io, options, (at) => watchBackfill(at, id, options))
    })
  withBackendOptions(backfill.command('ls [schedule]'))
    .description('list the backfills of one or all schedules, newest first, at most 50')
    .action(async (name: string | undefined, _: unknown, command: Command) => {
      const options = said(command)
      const [{ listBackfills }, { runCommand }] = await Promise.all([import('../commands/backfill.ts'), context()])
      await runCommand(io, options, (at) => listBackfills(at, name, options))
    })
  withDryRun(withBackendOptions(backfill.command('cancel <id>')))
    .description('cancel a backfill and its runs that have not ended')
    .action(async (id: string, _: unknown, command: Command) => {
      const options = said(command)
      const [{ cancelBackfill }, { runCommand }] = await Promise.all([import('../commands/backfill.ts'), context()])
      await runCommand(io, options, (at) => cancelBackfill(at, id, options))
    })
}

const context = () => import('../command-context.ts')
