/** `everytick channels`: lists, adds, tests and removes notification channels; prints a generated secret once. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { answer, listOf } from '../answer.ts'
import { type ChangeOptions, change, printPlan } from '../change.ts'
import { findId } from '../find-id.ts'
import { type Io, withBackend } from '../io.ts'
import { CHANNELS } from '../kinds.ts'
import type { ListOptions } from '../listing.ts'
import { printable, rowsText } from '../print.ts'
import { shortIds } from '../short-id.ts'
import { UsageError } from '../usage-error.ts'

export type ChannelOptions = ChangeOptions

export interface ChannelsListOptions extends ChannelOptions, ListOptions {
  readonly workspace?: string
}

export interface ChannelAddOptions extends Omit<ChannelOptions, 'config'> {
  readonly kind?: 'webhook' | 'slack' | 'log'
  readonly address?: string
  /** A JSON file with the channel; - reads standard input. */
  readonly file?: string
  readonly workspace?: string
}

interface Channel {
  readonly id: string
  readonly name: string
  readonly workspace: string | null
  readonly enabled: boolean
  readonly config: { readonly kind: string; readonly url?: unknown; readonly host?: unknown }
}

export function listChannels(options: ChannelsListOptions, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    const query = { workspace: options.workspace }
    const channels = await listOf<Channel>(backend, '/channels', { ...options, io, query })
    await answer(channels, { ...options, io }, (found, view) => {
      const idText = view.terminal ? shortIds(found.map(({ id }) => id)) : String
      const rows = found.map(({ id, name, workspace, enabled, config }) => [
        ...[idText(id), name, config.kind, workspace ?? '-', enabled ? 'on' : 'off', addressText(config)],
      ])
      return rowsText(['ID', 'NAME', 'KIND', 'WORKSPACE', 'STATE', 'ADDRESS'], rows, view)
    })
  })
}

/** The server does not return a secret address as text. */
function addressText({ url, host }: Channel['config']): string {
  const address = url ?? host
  return typeof address === 'string' ? address : '-'
}

export function addChannel(name: string, options: ChannelAddOptions, io: Io): Promise<void> {
  const { config, secret } = configOf(options)
  const body = { name, config, ...(options.workspace === undefined ? {} : { workspace: options.workspace }) }
  return withBackend(options, async (backend) => {
    const words = `add the channel ${name} (${String(config.kind)})`
    // A dry run prints the given values, not the generated secret.
    const plan = { method: 'POST', path: '/channels', words } as const
    if (options.dryRun)
      return printPlan({ ...plan, body: { ...body, config: withoutSecrets(config) } }, { ...options, io })
    const made = await backend.ask<Channel>('POST', '/channels', { body })
    const shown = secret === undefined ? made : { ...made, secret }
    await answer(
      shown,
      { ...options, io },
      () => `${[made.id, ...(secret ? [secret] : [])].map(printable).join('\t')}\n`,
    )
    if (secret !== undefined && !options.json) io.note('  Save the secret now: it is not shown again.\n')
  })
}

const SECRETS = ['secret', 'password']
const withoutSecrets = (config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(config).filter(([name]) => !SECRETS.includes(name)))

interface Configured {
  readonly config: Readonly<Record<string, unknown>>
  /** Generated here, so the command prints it. */
  readonly secret?: string
}

export function configOf({ kind, address, file }: ChannelAddOptions): Configured {
  if (file !== undefined && kind !== undefined)
    throw new UsageError('--config and --kind exclude each other', {
      hint: 'leave out --kind: the JSON contains the kind',
    })
  if (file !== undefined) return { config: readConfig(file) }
  if (kind === undefined)
    throw new UsageError('--kind is missing', { hint: 'pass --kind, or --config with a JSON file' })
  if (kind === 'log') return { config: { kind } }
  if (address === undefined) throw new UsageError(`--kind ${kind} needs --address`)
  if (kind === 'slack') return { config: { kind, url: address } }
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  return { config: { kind, url: address, secret }, secret }
}

function readConfig(file: string): Readonly<Record<string, unknown>> {
  try {
    const config: unknown = JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'))
    if (typeof config === 'object' && config !== null && !Array.isArray(config)) return { ...config }
  } catch (cause) {
    throw new UsageError(`cannot read ${file} as JSON`, { cause })
  }
  throw new UsageError(`${file} is not a JSON object`)
}

export function testChannel(id: string, options: ChannelOptions, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    const one = `/channels/${await findId(backend, CHANNELS, id)}`
    const { name } = await backend.ask<Channel>('GET', one)
    const path = `${one}/test`
    if (options.dryRun) return printPlan({ method: 'POST', path, words: `send a test to ${name}` }, { ...options, io })
    const told = await backend.ask<{ readonly delivered: boolean; readonly error: string | null }>('POST', path)
    if (told.delivered || options.json)
      await answer(told, { ...options, io }, () => `${printable(name)} accepted the test message\n`)
    if (told.delivered) return
    throw new UsageError(`${name} did not accept the test message: ${told.error}`, {
      code: 'NOT_DELIVERED',
      ...(backend.kind === 'store' ? { hint: SENT_FROM_HERE } : {}),
    })
  })
}

/** The server's --private-channels and --channel-host do not apply to a test that this process sends. */
const SENT_FROM_HERE =
  'without --url this command sends the test itself, to public addresses only; with --url the server sends it'

export function removeChannel(id: string, options: ChannelOptions, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    const path = `/channels/${await findId(backend, CHANNELS, id)}`
    const { name } = await backend.ask<Channel>('GET', path)
    const said = (): string => `removed the channel ${name}`
    await change(backend, { method: 'DELETE', path, words: `remove the channel ${name}`, said }, { ...options, io })
  })
}
