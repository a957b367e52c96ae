/** HTTP handlers of alert rules; `observe/read-alert-rule.ts` parses the rules. */
import { type AlertRule, kindOfDefault } from '../../observe/alert-rule.ts'
import { readRule, writtenRule } from '../../observe/read-alert-rule.ts'
import { refused } from '../../options.ts'
import type { DocumentStore } from '../../store/contract/documents.ts'
import { checkCap } from '../alerting/check-cap.ts'
import { allRules, oneRule, ruleData, storedRules } from '../alerting/rules.ts'
import * as contract from '../contract/alert-rules.ts'
import { createOnce } from '../create-once.ts'
import { defined } from '../defined.ts'
import { refuseOtherTag, tagOf } from '../if-match.ts'
import type { Parts } from '../parts.ts'
import { home, type Principal, sees } from '../principal.ts'
import { notFound, Refusal } from '../problem.ts'
import { ok, type ParsedRequest, type Route, route } from '../route.ts'

type Fields = ParsedRequest<typeof contract.putAlertRule>['body']

const ruleBody = (rule: AlertRule, stored: boolean): Readonly<Record<string, unknown>> => ({
  id: rule.id,
  ...writtenRule(rule),
  workspace: rule.workspace === '' ? null : rule.workspace,
  isDefault: !stored && kindOfDefault(rule.id) !== undefined,
})

/** The workspace of a rule: the given one, else the caller's own, else the fleet. */
export const placeOf = (principal: Principal, asked: string | undefined): string =>
  asked === undefined && principal.workspace === null ? '' : home(principal, asked)

export function alertRuleRoutes({ core }: Pick<Parts, 'core'>): readonly Route[] {
  const documents = async (): Promise<DocumentStore> => (await core.store()).documents

  const seen = async (principal: Principal, id: string) => {
    const found = await oneRule(await documents(), id)
    if (found && !sees(principal, found.rule.workspace)) throw notFound(`rule ${id}`)
    return found
  }

  /** Refuses unknown channels, because such a rule would notify nobody. */
  const checkChannels = async (principal: Principal, { channels }: AlertRule): Promise<void> => {
    for (const id of channels ?? []) {
      const channel = await (await documents()).get('channel', id)
      if (!channel || !sees(principal, channel.workspace))
        throw new Refusal('REQUEST_INVALID', `there is no channel ${id}`, {
          errors: [{ pointer: '/channels', message: `there is no channel ${id}` }],
        })
    }
  }

  const write = async (rule: AlertRule, from: number): Promise<void> => {
    const store = await documents()
    const { id, workspace } = rule
    if (from === 0 && kindOfDefault(id) === undefined) await checkCap(store, 'rules', workspace)
    const written = await store.put({ kind: 'alert_rule', id, workspace, state: '', data: ruleData(rule), from })
    if (!written)
      throw new Refusal('PRECONDITION_FAILED', 'another request changed the rule', { hint: 'read it again' })
  }

  const read = (place: { readonly id: string; readonly workspace: string }, { workspace: _, ...fields }: Fields) =>
    readRule(place, defined(fields))

  const changeOf = (after: AlertRule, before: AlertRule | null = null) => ({
    workspace: after.workspace,
    target: `alert rule ${after.id}`,
    before: before && writtenRule(before),
    after: writtenRule(after),
  })

  return [
    route(contract.listAlertRules, async ({ principal }) => {
      const store = await documents()
      const stored = new Set((await storedRules(store)).map(({ id }) => id))
      const rules = (await allRules(store)).filter(({ workspace }) => sees(principal, workspace))
      return ok({ data: rules.map((rule) => ruleBody(rule, stored.has(rule.id))) })
    }),
    route(contract.createAlertRule, async ({ body, principal, base, newId, interrupted }) => {
      const rule = read({ id: newId, workspace: placeOf(principal, body.workspace) }, body)
      await checkChannels(principal, rule)
      await createOnce(
        { interrupted },
        () =>
          core.quotas.within(
            () => [{ workspace: rule.workspace, rules: 1 }],
            () => write(rule, 0),
          ),
        async () => ((await oneRule(await documents(), newId)) ? undefined : null),
      )
      const headers = { location: `${base}/alert-rules/${rule.id}` }
      return { status: 201, body: ruleBody(rule, true), headers, change: changeOf(rule) }
    }),
    route(contract.getAlertRule, async ({ params, principal }) => {
      const found = await seen(principal, params.id)
      if (!found) throw notFound(`rule ${params.id}`)
      return ok(ruleBody(found.rule, found.version > 0), { etag: tagOf(found.version) })
    }),
    route(contract.putAlertRule, async ({ params, body, principal, request }) => {
      const found = await seen(principal, params.id)
      if (!found) throw notFound(`rule ${params.id}`)
      refuseOtherTag(request, tagOf(found.version))
      const { workspace } = found.rule
      if (body.workspace !== undefined && body.workspace !== workspace)
        throw refused('a rule cannot move to another workspace', 'add a new rule there')
      const rule = read({ id: params.id, workspace }, body)
      await checkChannels(principal, rule)
      await write(rule, found.version)
      const headers = { etag: tagOf(found.version + 1) }
      return { status: 200, body: ruleBody(rule, true), headers, change: changeOf(rule, found.rule) }
    }),
    route(contract.deleteAlertRule, async ({ params, principal }) => {
      const found = await seen(principal, params.id)
      if (!found) throw notFound(`rule ${params.id}`)
      const { rule, version } = found
      const removed = version > 0 && (await (await documents()).remove('alert_rule', rule.id))
      const { after: before, ...change } = changeOf(rule)
      return { status: 204, change: removed ? { ...change, before, after: null } : 'none' }
    }),
  ]
}
