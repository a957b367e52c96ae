/** The commands and options of the command line and their help; each command's work is loaded only when it is called. */
import { Command, CommanderError, Option } from 'commander'
import { type Io, ioOf } from './io.ts'
import { forbidConfig } from './no-config.ts'
import { registerAlerts } from './program/alerts.ts'
import { registerCompletion } from './program/completion.ts'
import { registerCrontab } from './program/crontab.ts'
import { registerDeploy } from './program/deploy.ts'
import { registerFleet } from './program/fleet.ts'
import { registerInspect } from './program/inspect.ts'
import { registerKeys } from './program/keys.ts'
import { registerRuns } from './program/runs.ts'
import { registerSchedules } from './program/schedules.ts'
import { registerStart } from './program/start.ts'
import { registerTime } from './program/time.ts'

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

const SOME_OPTION = new Option('--some')

/** A command as the list of all shows it: of its options only that there are any, since each takes a while to read. */
class Listed extends Command {
  override createCommand = listed
  override createOption = (): Option => SOME_OPTION
  override addOption = (option: Option): this => {
    ;(this.options as Option[]).push(option)
    return this
  }
}
const listed = (name?: string): Command => new Listed(name)

const isHelpQuestion = (args: readonly string[]): boolean => args.length === 1 && /^(?:-h|--help)$/.test(args[0]!)

/** With what is asked, only as much of it as that may mean: commands and options cost some time to set up. */
export function createProgram(write: (text: string) => void, args: readonly string[] = []): Command {
  const program = new Command('everytick')
    .description('Durable cron and job scheduler for TypeScript.')
    .option('-V, --version', 'print the version and that of the time-zone data')
    .addOption(noConfigOption())
    .helpOption('-h, --help', 'print help')
    .exitOverride()
    // What went wrong is printed in one place and one form, so commander keeps silent about it.
    .configureOutput({ writeOut: write, writeErr: () => {}, outputError: () => {} })
    .addHelpText('after', EXAMPLES)
    .on('option:no-config', forbidConfig)
    .on('option:version', () => {
      throw new CommanderError(0, VERSION_ASKED, '')
    })

  const io = ioOf(write)
  if (isHelpQuestion(args)) program.createCommand = listed
  const meant = GROUPS.filter(({ words }) => args[0] !== undefined && words.includes(args[0]))
  for (const { register } of meant.length > 0 ? meant : GROUPS) register(program, io)
  return program
}

/** Not the negation of `--config`, for which commander would take it: commands that inherit options would find `config: true`. */
function noConfigOption(): Option {
  const option = new Option('--no-config', 'neither read nor execute a configuration or jobs file')
  option.negate = false
  return option
}

interface Group {
  /** The commands it has; none when they need to know all others. */
  readonly words: readonly string[]
  readonly register: (program: Command, io: Io) => void
}

/** Each a file of definitions under program/; what their commands do is loaded when they are called. */
const GROUPS: readonly Group[] = [
  { words: ['dev', 'serve', 'worker', 'init'], register: registerStart },
  { words: ['next', 'explain'], register: registerTime },
  { words: ['schedules', 'trigger', 'backfill'], register: registerSchedules },
  { words: ['runs', 'ops'], register: registerRuns },
  { words: ['why', 'simulate', 'forecast', 'audit', 'audit-log', 'bench'], register: registerInspect },
  { words: ['queues', 'workers', 'locks', 'quotas'], register: registerFleet },
  { words: ['keys'], register: registerKeys },
  { words: ['alerts', 'alert-rules', 'channels'], register: registerAlerts },
  { words: ['migrate', 'sync', 'apply', 'doctor', 'cleanup'], register: registerDeploy },
  { words: ['import', 'export'], register: registerCrontab },
  { words: [], register: registerCompletion },
]
