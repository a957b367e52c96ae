/** Channels as documents: validation, redaction of secrets, and partial updates. */
import type { Json } from '../../json.ts'
import type { Logger } from '../../observe/logger.ts'
import {
  checkKeys,
  readBoolean,
  readChoice,
  readInteger,
  readList,
  readName,
  readText,
  refused,
} from '../../options.ts'
import type { Document } from '../../store/contract/documents.ts'
import type { Clock } from '../../time/clock.ts'
import { type EmailConfig, email } from './channels/email.ts'
import { type LogConfig, log } from './channels/log.ts'
import { type SlackConfig, slack } from './channels/slack.ts'
import { isWebhookSecret, type WebhookConfig, webhook } from './channels/webhook.ts'
import type { Send } from './message.ts'

export type ChannelConfig = WebhookConfig | SlackConfig | EmailConfig | LogConfig
export const CHANNEL_KINDS = ['webhook', 'slack', 'email', 'log'] as const

export interface Channel {
  readonly id: string
  /** The workspace whose alerts it receives; the empty text for all. */
  readonly workspace: string
  readonly name: string
  readonly enabled: boolean
  readonly config: ChannelConfig
}

/** The dependencies of a channel. */
export interface Voice {
  readonly clock: Clock
  readonly logger: Logger
  /** Whether channels may reach this machine and private networks, or which hosts there. */
  readonly allowPrivate: boolean | readonly string[]
}

export function senderOf({ config }: Channel, voice: Voice): Send {
  switch (config.kind) {
    case 'webhook':
      return webhook(config, voice)
    case 'slack':
      return slack(config, voice)
    case 'email':
      return email(config, voice)
    case 'log':
      return log(config, voice)
  }
}

/** Whether a channel receives alerts of a workspace. */
export const hears = (channel: Pick<Channel, 'workspace' | 'enabled'>, workspace: string): boolean =>
  channel.enabled && (channel.workspace === '' || channel.workspace === workspace)

type Fields = Readonly<Record<string, unknown>>

const FIELDS: Readonly<Record<ChannelConfig['kind'], readonly string[]>> = {
  webhook: ['kind', 'url', 'secret'],
  slack: ['kind', 'url'],
  email: ['kind', 'host', 'port', 'secure', 'user', 'password', 'from', 'to'],
  log: ['kind'],
}

export function readConfig(given: Fields): ChannelConfig {
  const kind = readChoice(given.kind, 'kind', CHANNEL_KINDS)
  checkKeys(given, FIELDS[kind], `a channel of kind ${kind}`)
  switch (kind) {
    case 'webhook': {
      const secret = readText(given.secret, 'secret', 200)
      if (!isWebhookSecret(secret))
        throw refused('secret is invalid', 'write whsec_ and 24 to 64 random bytes in base64')
      return { kind, url: readUrl(given.url), secret }
    }
    case 'slack':
      return { kind, url: readUrl(given.url) }
    case 'email':
      return readEmail(given)
    case 'log':
      return { kind }
  }
}

function readEmail(given: Fields): EmailConfig {
  const user = given.user ?? null
  const password = given.password ?? null
  if ((user === null) !== (password === null)) throw refused('user and password must be given together')
  return {
    kind: 'email',
    host: readName(given.host, 'host'),
    port: readInteger(given.port ?? 587, 'port', [1, 65_535]),
    secure: readBoolean(given.secure ?? given.port === 465, 'secure'),
    user: user === null ? null : readName(user, 'user'),
    password: password === null ? null : readText(password, 'password', 500),
    from: readMail(given.from, 'from'),
    to: readList(given.to, 'to', [1, 50]).map((each) => readMail(each, 'to')),
  }
}

function readMail(value: unknown, what: string): string {
  const address = readName(value, what)
  if (/^[^\s<>"(),:;@]+@[^\s<>"(),:;@]+$/.test(address)) return address
  throw refused(`${what} is not an email address`, 'write it like ops@example.com')
}

/** Errors never quote the URL, because it may be a secret. */
function readUrl(value: unknown): string {
  const text = readText(value, 'url', 2000)
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) throw refused('url must begin with http:// or https://')
  if (url.username !== '' || url.password !== '')
    throw refused('url contains a user name or a password', 'leave them out')
  return url.href
}

/** Keeps secrets that the change leaves out, unless they would go to a different host. */
export function changedConfig(config: ChannelConfig, change: Fields): ChannelConfig {
  if (change.kind !== undefined && change.kind !== config.kind) return readConfig(change)
  const merged: Record<string, unknown> = { ...config, ...change }
  const moves = config.kind === 'email' && (change.host ?? config.host) !== config.host
  if (moves && config.password !== null && change.password === undefined)
    throw refused('host changes, but the stored password belongs to the old host', 'send user and password too')
  return readConfig(merged)
}

/** The public form: for a secret, only whether it is set. */
export function shownConfig(config: ChannelConfig): Readonly<Record<string, Json>> {
  switch (config.kind) {
    case 'webhook':
      return { ...config, secret: true }
    case 'slack':
      return { ...config, url: true }
    case 'email':
      return { ...config, password: config.password !== null }
    case 'log':
      return { ...config }
  }
}

export function channelOf({ id, workspace, data }: Document): Channel {
  const { name, enabled, config } = data as unknown as Pick<Channel, 'name' | 'enabled' | 'config'>
  return { id, workspace, name, enabled, config }
}

export const dataOf = ({ name, enabled, config }: Channel): Json => ({ name, enabled, config: { ...config } })
