/** HTTP handlers of channels. Secrets are stored with the channel and never shown, not even in the audit log. */
import { readName, refused } from '../../options.ts'
import type { Document, DocumentStore } from '../../store/contract/documents.ts'
import {
  type Channel,
  changedConfig,
  channelOf,
  dataOf,
  readConfig,
  senderOf,
  shownConfig,
  type Voice,
} from '../alerting/channel.ts'
import { checkCap } from '../alerting/check-cap.ts'
import type { Message } from '../alerting/message.ts'
import { allRules } from '../alerting/rules.ts'
import * as contract from '../contract/channels.ts'
import { DEFAULT_LIMIT } from '../contract/vocabulary.ts'
import { createOnce } from '../create-once.ts'
import { defined } from '../defined.ts'
import { refuseOtherTag, tagOf } from '../if-match.ts'
import { listPage } from '../list-page.ts'
import type { Parts } from '../parts.ts'
import { type Principal, sees, visible } from '../principal.ts'
import { notFound, Refusal } from '../problem.ts'
import { ok, type Route, route } from '../route.ts'
import { shownWords } from '../shown.ts'
import { placeOf } from './alert-rules.ts'

const shownChannel = ({ id, workspace, name, enabled, config }: Channel): Readonly<Record<string, unknown>> => ({
  ...{ id, name, enabled, workspace: workspace === '' ? null : workspace },
  config: shownConfig(config),
})

const channelBody = (document: Document): Readonly<Record<string, unknown>> => ({
  ...shownChannel(channelOf(document)),
  createdAt: new Date(document.createdAt),
  updatedAt: new Date(document.updatedAt),
})

export function channelRoutes({ core, settings }: Pick<Parts, 'core' | 'settings'>): readonly Route[] {
  const voice: Voice = { clock: core.clock, logger: core.settings.logger, allowPrivate: settings.allowPrivate }
  const documents = async (): Promise<DocumentStore> => (await core.store()).documents

  const known = async (principal: Principal, id: string): Promise<Document> => {
    const found = await (await documents()).get('channel', id)
    if (found && sees(principal, found.workspace)) return found
    throw notFound(`channel ${id}`)
  }

  const write = async (channel: Channel, from: number): Promise<Document> => {
    const { id, workspace, config } = channel
    if (config.kind === 'log' && workspace !== '')
      throw refused('a log channel belongs to the server, not to a workspace', 'leave out workspace')
    const document = { kind: 'channel', id, workspace, state: '', data: dataOf(channel), from } as const
    const store = await documents()
    if (from === 0) await checkCap(store, 'channels', workspace)
    const written = await store.put(document)
    if (written) return written
    throw new Refusal('PRECONDITION_FAILED', 'another request changed the channel', { hint: 'read it again' })
  }

  const changeOf = (channel: Channel, states: { readonly before?: unknown; readonly after?: unknown }) => ({
    workspace: channel.workspace,
    target: `channel ${channel.name}`,
    ...states,
  })

  return [
    route(contract.listChannels, async ({ query, principal }) => {
      const { workspace, name, limit = DEFAULT_LIMIT, ...wanted } = query
      const whose = visible(principal, workspace)
      const store = await documents()
      const list = (bounds: { limit: number; after?: string }) => store.list('channel', { ...whose, ...bounds })
      const fits = name === undefined ? undefined : (found: Document) => channelOf(found).name === name
      const { rows, page } = await listPage({ list, fits }, { ...wanted, limit })
      return ok({ data: rows.map(channelBody), page })
    }),
    route(contract.createChannel, async ({ body, principal, base, newId, interrupted }) => {
      const channel: Channel = {
        id: newId,
        workspace: placeOf(principal, body.workspace),
        name: readName(body.name, 'name'),
        enabled: body.enabled ?? true,
        config: readConfig(defined(body.config)),
      }
      const written = await createOnce(
        { interrupted },
        () =>
          core.quotas.within(
            () => [{ workspace: channel.workspace, channels: 1 }],
            () => write(channel, 0),
          ),
        async () => (await documents()).get('channel', newId),
      )
      const headers = { location: `${base}/channels/${channel.id}` }
      const change = changeOf(channel, { after: shownChannel(channel) })
      return { status: 201, body: channelBody(written), headers, change }
    }),
    route(contract.getChannel, async ({ params, principal }) => {
      const found = await known(principal, params.id)
      return ok(channelBody(found), { etag: tagOf(found.version) })
    }),
    route(contract.patchChannel, async ({ params, body, principal, request }) => {
      const found = await known(principal, params.id)
      refuseOtherTag(request, tagOf(found.version))
      const before = channelOf(found)
      const after: Channel = {
        ...before,
        name: body.name === undefined ? before.name : readName(body.name, 'name'),
        enabled: body.enabled ?? before.enabled,
        config: body.config === undefined ? before.config : changedConfig(before.config, defined(body.config)),
      }
      const written = await write(after, found.version)
      const change = changeOf(after, { before: shownChannel(before), after: shownChannel(after) })
      return { ...ok(channelBody(written), { etag: tagOf(written.version) }), change }
    }),
    route(contract.deleteChannel, async ({ params, principal }) => {
      const channel = channelOf(await known(principal, params.id))
      const store = await documents()
      const naming = (await allRules(store)).find(({ channels }) => channels?.includes(channel.id))
      if (naming)
        throw new Refusal('NOT_ACCEPTABLE_STATE', `the alert rule ${naming.id} uses this channel`, {
          hint: 'change the rule first',
        })
      const removed = await store.remove('channel', channel.id)
      return { status: 204, change: removed ? changeOf(channel, { before: shownChannel(channel) }) : 'none' }
    }),
    route(contract.testChannel, async ({ params, principal }) => {
      const channel = channelOf(await known(principal, params.id))
      const id = `test.${core.newId()}`
      const delivery = await senderOf(channel, voice)({ id, messages: [testMessage(channel, id, core.clock.now())] })
      const answer = shownWords({ delivered: delivery.ok, error: delivery.ok ? null : delivery.error })
      return { ...ok(answer), change: changeOf(channel, { after: answer }) }
    }),
  ]
}

const testMessage = ({ workspace, name }: Channel, id: string, at: number): Message => ({
  id,
  event: 'test',
  at,
  alert: {
    id,
    ruleId: 'test',
    kind: 'schedule_not_fired',
    severity: 'info',
    workspace,
    subject: 'test',
    title: `this is a test of channel ${name}; nothing is wrong`,
    values: {},
    state: 'open',
    openedAt: at,
  },
})
