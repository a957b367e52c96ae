/** HTTP handlers of alerts; `observe/alert.ts` defines the state transitions. */
import { type Alert, acknowledged, muted, resolved, unmuted } from '../../observe/alert.ts'
import { readDuration, readInstantOption, refused } from '../../options.ts'
import { alertOf, moveAlert } from '../alerting/alerts.ts'
import { tell } from '../alerting/notifications.ts'
import { oneRule } from '../alerting/rules.ts'
import { channelsFor } from '../alerting/stored-channels.ts'
import * as contract from '../contract/alerts.ts'
import { DEFAULT_LIMIT } from '../contract/vocabulary.ts'
import { listPage } from '../list-page.ts'
import type { Parts } from '../parts.ts'
import { type Principal, sees, visible } from '../principal.ts'
import { notFound, Refusal } from '../problem.ts'
import { ok, type Reply, type Route, route } from '../route.ts'
import { shownAlert } from '../shown.ts'

/** The longest mute; for longer, disable the rule. */
const MAX_MUTE_MS = 366 * 86_400_000

export function alertRoutes({ core }: Pick<Parts, 'core'>): readonly Route[] {
  const known = async (principal: Principal, id: string): Promise<Alert> => {
    const found = await (await core.store()).documents.get('alert', id)
    if (found && sees(principal, found.workspace)) return alertOf(found).alert
    throw notFound(`alert ${id}`)
  }

  /** `move` returns null if it does not apply: an error for a resolved alert, otherwise a no-op. */
  const moved = async (
    { principal, id }: { readonly principal: Principal; readonly id: string },
    move: (alert: Alert) => Alert | null,
  ): Promise<Reply> => {
    const seen = await known(principal, id)
    const change = await moveAlert((await core.store()).documents, id, move)
    if (change === undefined) throw notFound(`alert ${id}`)
    if (change === null) {
      if (seen.state === 'resolved') throw new Refusal('NOT_ACCEPTABLE_STATE', 'the alert is resolved')
      return { ...ok(shownAlert(await known(principal, id))), change: 'none' }
    }
    const { before, after } = change
    const target = `alert ${id}`
    const record = { workspace: before.workspace, target, before: shownAlert(before), after: shownAlert(after.alert) }
    return { ...ok(shownAlert(after.alert)), change: record }
  }

  return [
    route(contract.listAlerts, async ({ query, principal }) => {
      const { limit = DEFAULT_LIMIT, workspace, state, ...wanted } = query
      const filter = { ...visible(principal, workspace), ...(state === undefined ? {} : { state }) }
      const { documents } = await core.store()
      const list = (bounds: { limit: number; after?: string }) => documents.list('alert', { ...filter, ...bounds })
      const { rows, page } = await listPage({ list }, { ...wanted, limit })
      return ok({ data: rows.map((each) => shownAlert(alertOf(each).alert)), page })
    }),
    route(contract.getAlert, async ({ params, principal }) => ok(shownAlert(await known(principal, params.id)))),
    route(contract.acknowledgeAlert, async ({ params, principal }) => {
      const act = { by: principal.name, at: await (await core.store()).now() }
      return moved({ principal, id: params.id }, (alert) => acknowledged(alert, act))
    }),
    route(contract.muteAlert, async ({ params, body, principal }) => {
      const until = untilOf(body, await (await core.store()).now())
      return moved({ principal, id: params.id }, (alert) => muted(alert, until))
    }),
    route(contract.unmuteAlert, async ({ params, principal }) => moved({ principal, id: params.id }, unmuted)),
    route(contract.resolveAlert, async ({ params, principal }) => {
      const store = await core.store()
      const now = await store.now()
      const before = await known(principal, params.id)
      // Idempotent.
      if (before.state === 'resolved') return { ...ok(shownAlert(before)), change: 'none' }
      const reply = await moved({ principal, id: params.id }, (alert) =>
        resolved(alert, { by: principal.name, at: now }),
      )
      const { documents } = store
      // The alerter would do this too, a little later.
      const [channels, rule] = await Promise.all([
        channelsFor(documents, before.workspace),
        oneRule(documents, before.ruleId),
      ])
      await tell(documents, await known(principal, params.id), { channels, rule: rule?.rule, now })
      return reply
    }),
  ]
}

function untilOf(
  body: { readonly until?: string | undefined; readonly for?: string | undefined },
  now: number,
): number {
  const { until, for: duration } = body
  if ((until === undefined) === (duration === undefined))
    throw refused('the end of the mute is missing', 'pass until or for')
  const at = until === undefined ? now + readDuration(duration, 'for', 1000) : readInstantOption(until, 'until')
  if (at > now && at <= now + MAX_MUTE_MS) return at
  throw refused('a mute must end in the future, and within a year')
}
