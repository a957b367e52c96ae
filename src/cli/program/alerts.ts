/** Defines `alerts`, `alert-rules` and `channels`: the alerts, the rules that open them, and where they are sent. */
import { type Command, Option } from 'commander'
import type { AlertRuleOptions } from '../commands/alert-rules.ts'
import type { AlertOptions, AlertsListOptions, MuteOptions } from '../commands/alerts.ts'
import type { ChannelAddOptions, ChannelOptions, ChannelsListOptions } from '../commands/channels.ts'
import type { Io } from '../io.ts'
import { withAddress, withBackendOptions, withDryRun, withJson, withPages } from './options.ts'

const listed = (value: string, former: readonly string[] = []): readonly string[] => [...former, value]
const writing = (command: Command): Command => withDryRun(withBackendOptions(command))

export function registerAlerts(program: Command, io: Io): void {
  const alerts = program.command('alerts').description('list alerts; acknowledge, mute or resolve one')
  withPages(withBackendOptions(alerts.command('ls', { isDefault: true })))
    .description('list unresolved alerts, newest first')
    .addOption(
      new Option('--state <state>', 'only alerts in this state').choices(['open', 'acknowledged', 'resolved', 'any']),
    )
    .option('--workspace <name>', 'only this workspace')
    .action(async (options: AlertsListOptions) => {
      const { listAlerts } = await import('../commands/alerts.ts')
      await listAlerts(options, io)
    })
  writing(alerts.command('ack <id>'))
    .description('acknowledge an alert; it stays until its cause is gone')
    .action(async (id: string, options: AlertOptions) => {
      const { ackAlert } = await import('../commands/alerts.ts')
      await ackAlert(id, options, io)
    })
  writing(alerts.command('mute <id>'))
    .description('send no notifications for an alert for a while')
    .option('--for <duration>', 'how long, such as 2h (default: 1h)')
    .option('--until <instant>', 'mute until this instant, instead of --for')
    .action(async (id: string, options: MuteOptions) => {
      const { muteAlert } = await import('../commands/alerts.ts')
      await muteAlert(id, options, io)
    })
  writing(alerts.command('unmute <id>'))
    .description('send notifications for a muted alert again')
    .action(async (id: string, options: AlertOptions) => {
      const { unmuteAlert } = await import('../commands/alerts.ts')
      await unmuteAlert(id, options, io)
    })
  writing(alerts.command('resolve <id>'))
    .description('close an alert by hand; a new one opens if its cause persists')
    .action(async (id: string, options: AlertOptions) => {
      const { resolveAlert } = await import('../commands/alerts.ts')
      await resolveAlert(id, options, io)
    })

  const rules = program.command('alert-rules').description('list the alert rules; change one')
  withBackendOptions(rules.command('ls', { isDefault: true }))
    .description('list the built-in rules and the rules you added')
    .action(async (options: AlertRuleOptions) => {
      const { listAlertRules } = await import('../commands/alert-rules.ts')
      await listAlertRules(options, io)
    })
  writing(rules.command('set <id>'))
    .description('change a rule; options you omit keep their values')
    .option('--on', 'enable the rule')
    .option('--off', 'disable the rule')
    .option('--name <text>', 'display name of the rule')
    .addOption(new Option('--severity <severity>', 'severity of its alerts').choices(['info', 'warning', 'critical']))
    .option('--resolve-after <duration>', 'resolve an alert after its cause has been gone this long')
    .option('--channel <id>', 'notify only this channel; repeatable; all: every channel', listed)
    .option('--setting <name=value>', 'a setting of the rule, such as grace=2m; repeatable', listed)
    .action(async (id: string, options: AlertRuleOptions) => {
      const { setAlertRule } = await import('../commands/alert-rules.ts')
      await setAlertRule(id, options, io)
    })

  const channels = program.command('channels').description('list notification channels; add, test or remove one')
  withPages(withBackendOptions(channels.command('ls', { isDefault: true })))
    .description('list channels, newest first, without their secrets')
    .option('--workspace <name>', 'only this workspace')
    .action(async (options: ChannelsListOptions) => {
      const { listChannels } = await import('../commands/channels.ts')
      await listChannels(options, io)
    })
  withDryRun(withJson(withAddress(channels.command('add <name>'))))
    .description('add a channel; for a webhook, create a secret and print it once')
    .addOption(new Option('--kind <kind>', 'kind of channel').choices(['webhook', 'slack', 'log']))
    .option('--address <url>', 'address of the webhook or of Slack')
    .option('--config <file>', 'JSON file with the whole configuration, such as for email; - reads standard input')
    .option('--workspace <name>', 'only alerts of this workspace')
    .action(async (name: string, { config: file, ...options }: ChannelAddOptions & { config?: string }) => {
      const { addChannel } = await import('../commands/channels.ts')
      await addChannel(name, file === undefined ? options : { ...options, file }, io)
    })
  writing(channels.command('test <id>'))
    .description('send a test message now; exits 1 if it is not delivered')
    .action(async (id: string, options: ChannelOptions) => {
      const { testChannel } = await import('../commands/channels.ts')
      await testChannel(id, options, io)
    })
  writing(channels.command('rm <id>'))
    .description('remove a channel; refused while a rule uses it')
    .action(async (id: string, options: ChannelOptions) => {
      const { removeChannel } = await import('../commands/channels.ts')
      await removeChannel(id, options, io)
    })
}
