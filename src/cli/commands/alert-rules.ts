/** `everytick alert-rules`: lists and changes alert rules; the server validates the settings. */
import { answer } from '../answer.ts'
import { type Backend, segment } from '../backend.ts'
import { type ChangeOptions, change } from '../change.ts'
import { findAmong, findId } from '../find-id.ts'
import { type Io, withBackend } from '../io.ts'
import { ALERT_RULES, CHANNELS } from '../kinds.ts'
import { rowsText } from '../print.ts'
import { UsageError } from '../usage-error.ts'

export interface AlertRuleOptions extends ChangeOptions {
  readonly on?: boolean
  readonly off?: boolean
  readonly name?: string
  readonly severity?: string
  readonly resolveAfter?: string
  readonly channel?: readonly string[]
  readonly setting?: readonly string[]
}

export interface Rule {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly enabled: boolean
  readonly severity: string
  readonly workspace: string | null
  readonly channels: readonly string[] | null
  readonly resolveAfter: string
  readonly settings: Readonly<Record<string, string | number>>
  readonly isDefault: boolean
}

export function listAlertRules(options: AlertRuleOptions, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    const { data } = await backend.ask<{ readonly data: readonly Rule[] }>('GET', '/alert-rules')
    await answer(data, { ...options, io }, (rules, view) => {
      const rows = rules.map((rule) => [
        ...[rule.id, rule.enabled ? 'on' : 'off', rule.severity, rule.workspace ?? '-'],
        ...[rule.isDefault ? 'default' : 'changed', settingsText(rule.settings), rule.name],
      ])
      return rowsText(['ID', 'STATE', 'SEVERITY', 'WORKSPACE', 'ORIGIN', 'SETTINGS', 'NAME'], rows, view)
    })
  })
}

const settingsText = (settings: Rule['settings']): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ') || '-'

/** Sends the unchanged fields again, because the server replaces the whole rule. */
export function setAlertRule(text: string, options: AlertRuleOptions, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    const { data } = await backend.ask<{ readonly data: readonly Rule[] }>('GET', '/alert-rules')
    const id = findAmong(data, ALERT_RULES, text)
    const path = `/alert-rules/${segment(id)}`
    const before = data.find((rule) => rule.id === id)!
    const body = changedRule(before, { ...options, ...(await channelsOf(backend, options)) })
    const words = `change ${id}: ${differences(before, body).join(', ') || 'nothing'}`
    const said = (rule: Rule): string => `${id}: ${differences(before, rule).join(', ') || 'unchanged'}`
    await change<Rule>(backend, { method: 'PUT', path, body, words, said }, { ...options, io })
  })
}

/** Channels by name, id or id prefix; `all` means every channel. */
async function channelsOf(
  backend: Backend,
  { channel }: AlertRuleOptions,
): Promise<{ readonly channel?: readonly string[] }> {
  if (channel === undefined || channel.includes('all')) return {}
  return { channel: await Promise.all(channel.map((each) => findId(backend, CHANNELS, each))) }
}

type RuleFields = Omit<Rule, 'id' | 'isDefault' | 'workspace'> & { readonly workspace?: string }

export function changedRule(before: Rule, options: AlertRuleOptions): RuleFields {
  const { on, off, name, severity, resolveAfter, channel, setting } = options
  if (on && off) throw new UsageError('--on and --off exclude each other', { hint: 'leave out one of them' })
  return {
    ...{ kind: before.kind, name: name ?? before.name, severity: severity ?? before.severity },
    enabled: on ? true : off ? false : before.enabled,
    ...(before.workspace === null ? {} : { workspace: before.workspace }),
    channels: channel === undefined ? before.channels : channel.includes('all') ? null : channel,
    resolveAfter: resolveAfter ?? before.resolveAfter,
    settings: { ...before.settings, ...Object.fromEntries((setting ?? []).map(readSetting)) },
  }
}

/** Sends numbers as numbers; the server validates the settings. */
function readSetting(text: string): [name: string, value: string | number] {
  const at = text.indexOf('=')
  if (at < 1)
    throw new UsageError(`--setting takes name=value, such as grace=2m, not ${text}`, { code: 'OPTION_INVALID' })
  const value = text.slice(at + 1)
  return [text.slice(0, at), /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value]
}

const SHOWN = ['name', 'enabled', 'severity', 'resolveAfter', 'channels', 'settings'] as const

function differences(before: Rule, after: RuleFields | Rule): string[] {
  const text = (value: unknown): string => JSON.stringify(value)
  return SHOWN.filter((field) => text(before[field]) !== text(after[field])).map(
    (field) => `${field} ${text(before[field])} → ${text(after[field])}`,
  )
}
