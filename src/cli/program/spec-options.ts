/** The options that say what a schedule is, for those that make one and those that change one. */
import { type Command, Option } from 'commander'

const many = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

export function withSpecOptions(command: Command): Command {
  return command
    .option('--job <name>', 'what it runs')
    .option('--payload <json>', 'what the job is given')
    .option('--cron <expression>', 'when, such as "30 2 * * *"')
    .option('--tz <zone>', 'the time zone of the cron expression')
    .addOption(new Option('--gap <rule>', 'a time the clock jumps over').choices(['shift', 'skip']))
    .addOption(new Option('--fold <rule>', 'a time that happens twice').choices(['first', 'second', 'both']))
    .option('--every <duration>', 'instead: an interval, such as 5m')
    .option('--at <instant>', 'instead: once')
    .option('--start-at <instant>', 'nothing before')
    .option('--end-at <instant>', 'nothing after')
    .option('--exclude <rule>', 'occurrences left out; may be said several times', many)
    .option('--queue <name>', 'where its runs wait')
    .option('--priority <number>', '0 to 9')
    .option('--timeout <duration>', 'how long an attempt may take, or none; 1h unless the job says otherwise')
    .option('--attempts <number>', 'how often a run is tried')
    .option('--delivery <kind>', 'at_least_once or at_most_once')
    .option('--overlap <policy>', 'skip, queue, queue_one, cancel_previous or allow')
    .option('--catch-up <policy>', 'none, latest or all')
    .option('--catch-up-window <duration>', 'how far back')
    .option('--catch-up-limit <number>', 'how many at most')
    .option('--jitter <amount>', 'such as 5m or 10%')
    .option('--max-runs <number>', 'end after so many')
    .option('--concurrency-key <name>', 'share one concurrency group with others')
    .option('--pause-on-failure <number>', 'pause after so many failures in a row')
    .option('--description <text>', 'for people')
    .option('--tag <name>', 'may be said several times', many)
}
