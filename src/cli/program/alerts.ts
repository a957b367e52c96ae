/** Defines `alerts`, `alert-rules` and `channels`: what is wrong, when that is said, and to whom. */
import { type Command, Option } from 'commander'
import type { AlertRuleOptions } from '../commands/alert-rules.ts'
import type { AlertOptions, AlertsListOptions, MuteOptions } from '../commands/alerts.ts'
import type { ChannelAddOptions, ChannelOptions, ChannelsListOptions } from '../commands/channels.ts'
import type { Io } from '../io.ts'
import { withAddress, withBackendOptions, withDryRun, withJson, withPages } from './options.ts'

const listed = (value: string, former: readonly string[] = []): readonly string[] => [...former, value]
const writing = (command: Command): Command => withDryRun(withBackendOptions(command))

export function registerAlerts(program: Command, io: Io): void {
  const alerts = program.command('alerts').description('show what is wrong; acknowledge, mute or resolve it')
  withPages(withBackendOptions(alerts.command('ls', { isDefault: true })))
    .description('list alerts that are not resolved, newest first')
    .addOption(new Option('--state <state>', 'only these').choices(['open', 'acknowledged', 'resolved', 'any']))
    .option('--workspace <name>', 'only of this one')
    .action(async (options: AlertsListOptions) => {
      const { listAlerts } = await import('../commands/alerts.ts')
      await listAlerts(options, io)
    })
  writing(alerts.command('ack <id>'))
    .description('say that somebody looks after it; it stays until its reason is gone')
    .action(async (id: string, options: AlertOptions) => {
      const { ackAlert } = await import('../commands/alerts.ts')
      await ackAlert(id, options, io)
    })
  writing(alerts.command('mute <id>'))
    .description('tell nobody of it for a while')
    .option('--for <duration>', 'such as 2h (default: 1h)')
    .option('--until <instant>', 'instead of --for')
    .action(async (id: string, options: MuteOptions) => {
      const { muteAlert } = await import('../commands/alerts.ts')
      await muteAlert(id, options, io)
    })
  writing(alerts.command('unmute <id>'))
    .description('end its mute')
    .action(async (id: string, options: AlertOptions) => {
      const { unmuteAlert } = await import('../commands/alerts.ts')
      await unmuteAlert(id, options, io)
    })
  writing(alerts.command('resolve <id>'))
    .description('close it by hand; where its reason is still there, a new one follows')
    .action(async (id: string, options: AlertOptions) => {
      const { resolveAlert } = await import('../commands/alerts.ts')
      await resolveAlert(id, options, io)
    })

  const rules = program.command('alert-rules').description('show the rules for alerts; change one')
  withBackendOptions(rules.command('ls', { isDefault: true }))
    .description('list the rules: the defaults, changed or not, and those that were added')
    .action(async (options: AlertRuleOptions) => {
      const { listAlertRules } = await import('../commands/alert-rules.ts')
      await listAlertRules(options, io)
    })
  writing(rules.command('set <id>'))
    .description('change a rule; what is not named stays')
    .option('--on', 'look at it')
    .option('--off', 'leave it alone')
    .option('--name <text>', 'what people call it')
    .addOption(new Option('--severity <severity>', 'how bad it is').choices(['info', 'warning', 'critical']))
    .option('--resolve-after <duration>', 'how long its reason must be gone')
    .option('--channel <id>', 'tell only this one; may be given again; all: every channel', listed)
    .option('--setting <name=value>', 'such as grace=2m; may be given again', listed)
    .action(async (id: string, options: AlertRuleOptions) => {
      const { setAlertRule } = await import('../commands/alert-rules.ts')
      await setAlertRule(id, options, io)
    })

  const channels = program.command('channels').description('show where alerts are told; add, test or remove one')
  withPages(withBackendOptions(channels.command('ls', { isDefault: true })))
    .description('list channels, newest first, without their secrets')
    .option('--workspace <name>', 'only of this one')
    .action(async (options: ChannelsListOptions) => {
      const { listChannels } = await import('../commands/channels.ts')
      await listChannels(options, io)
    })
  withDryRun(withJson(withAddress(channels.command('add <name>'))))
    .description('add a channel; for a webhook a secret is made and printed, once')
    .addOption(new Option('--kind <kind>', 'how it is told').choices(['webhook', 'slack', 'log']))
    .option('--address <url>', 'of a webhook, or of Slack')
    .option('--config <file>', 'all of it as JSON, such as for email; - reads standard input')
    .option('--workspace <name>', 'only alerts of this one')
    .action(async (name: string, { config: file, ...options }: ChannelAddOptions & { config?: string }) => {
      const { addChannel } = await import('../commands/channels.ts')
      await addChannel(name, file === undefined ? options : { ...options, file }, io)
    })
  writing(channels.command('test <id>'))
    .description('send a test message now: exit 1 when it is not taken')
    .action(async (id: string, options: ChannelOptions) => {
      const { testChannel } = await import('../commands/channels.ts')
      await testChannel(id, options, io)
    })
  writing(channels.command('rm <id>'))
    .description('remove a channel; refused while a rule names it')
    .action(async (id: string, options: ChannelOptions) => {
      const { removeChannel } = await import('../commands/channels.ts')
      await removeChannel(id, options, io)
    })
}
