/** The options that define a schedule, for commands that create or edit one. */
import { type Command, Option } from 'commander'

const many = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

export function withSpecOptions(command: Command): Command {
  return command
    .option('--job <name>', 'job to run')
    .option('--payload <json>', 'payload of the job')
    .option('--cron <expression>', 'cron expression, such as "30 2 * * *"')
    .option('--tz <zone>', 'time zone of the cron expression')
    .addOption(
      new Option('--gap <rule>', 'what to do with a local time that the clock skips').choices(['shift', 'skip']),
    )
    .addOption(
      new Option('--fold <rule>', 'which pass runs for a local time that occurs twice').choices([
        'first',
        'second',
        'both',
      ]),
    )
    .option('--every <duration>', 'interval instead of --cron, such as 5m')
    .option('--at <instant>', 'single instant instead of --cron')
    .option('--start-at <instant>', 'no occurrence before this instant')
    .option('--end-at <instant>', 'no occurrence after this instant')
    .option('--exclude <rule>', 'occurrences to leave out; repeatable', many)
    .option('--queue <name>', 'queue of its runs')
    .option('--priority <number>', 'priority of its runs, 0 to 9')
    .option('--timeout <duration>', 'maximum duration of an attempt, or none (default: that of the job, else 1h)')
    .option('--attempts <number>', 'maximum attempts per run')
    .option('--delivery <kind>', 'at_least_once or at_most_once')
    .option('--overlap <policy>', 'while the previous run is active: skip, queue, queue_one, cancel_previous or allow')
    .option('--catch-up <policy>', 'missed occurrences to run: none, latest or all')
    .option('--catch-up-window <duration>', 'how far back to catch up')
    .option('--catch-up-limit <number>', 'maximum occurrences to catch up')
    .option('--jitter <amount>', 'spread starts over this long, such as 5m or 10%')
    .option('--max-runs <number>', 'end the schedule after this many runs')
    .option('--concurrency-key <name>', 'name of a concurrency group to share with other schedules')
    .option('--pause-on-failure <number>', 'pause the schedule after this many consecutive failures')
    .option('--description <text>', 'description for people')
    .option('--tag <name>', 'a tag; repeatable', many)
}
