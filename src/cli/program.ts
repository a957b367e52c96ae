/** The commands and options of the CLI and their help; each command loads its implementation only when it runs. */
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

Output: tables on a terminal, tab-separated rows in a pipe, JSON with --json.
Exit codes: 0 ok, 1 failed, 2 usage, 3 not found or conflict, 4 auth, 5 check failed.
`

/** Commander throws it for --version; only printing the version needs the time-zone data at the top level. */
export const isVersionQuestion = (error: unknown): boolean =>
  error instanceof CommanderError && error.code === VERSION_ASKED
/** Commander throws it after printing help that the user requested. */
export const isHelpShown = (error: unknown): boolean => error instanceof CommanderError && error.exitCode === 0

const VERSION_ASKED = 'everytick.version'

const SOME_OPTION = new Option('--some')

/** A command as the top-level help lists it: only whether it has options, because parsing each option takes time. */
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

/** Registers only the commands that `args` may mean, because setting up commands and options takes time. */
export function createProgram(write: (text: string) => void, args: readonly string[] = []): Command {
  const program = new Command('everytick')
    .description('Durable cron and job scheduler for TypeScript.')
    .option('-V, --version', 'print the version and the time-zone data version')
    .addOption(noConfigOption())
    .helpOption('-h, --help', 'print help')
    .exitOverride()
    // `main.ts` prints every error in one form, so commander prints none.
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

/** Commander would take it as the negation of `--config`, and commands that inherit options would get `config: true`. */
function noConfigOption(): Option {
  const option = new Option('--no-config', 'do not read or execute a configuration or jobs file')
  option.negate = false
  return option
}

interface Group {
  /** Its commands; empty when they need all other commands. */
  readonly words: readonly string[]
  readonly register: (program: Command, io: Io) => void
}

/** One definition file under program/ each; a command loads its implementation when it runs. */
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
