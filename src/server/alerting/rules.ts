/** The active rules: stored rules, and the defaults that no stored rule replaces. */
import type { Json } from '../../json.ts'
import { type AlertRule, defaultRuleId, kindOfDefault, RULE_KIND_NAMES } from '../../observe/alert-rule.ts'
import { defaultRule, readRule, writtenRule } from '../../observe/read-alert-rule.ts'
import type { Document, DocumentStore } from '../../store/contract/documents.ts'
import { capOf } from './caps.ts'

const PAGE = 200

/** Null for a rule that a newer version stored and this version cannot read; it is ignored. */
export function ruleOf({ id, workspace, data }: Document): AlertRule | null {
  try {
    return readRule({ id, workspace }, data)
  } catch {
    return null
  }
}

export const ruleData = (rule: AlertRule): Json => writtenRule(rule)

/** The added rules of all owners or one, each up to its cap; changed defaults do not count. */
export async function storedRules(documents: DocumentStore, owner?: string): Promise<Document[]> {
  const found: Document[] = []
  const counts = new Map<string, number>()
  const isWithin = ({ id, workspace }: Document): boolean => {
    if (kindOfDefault(id) !== undefined) return true
    const count = (counts.get(workspace) ?? 0) + 1
    counts.set(workspace, count)
    return count <= capOf(workspace).rules
  }
  for (let after: string | undefined; ; ) {
    const page = await documents.list('alert_rule', {
      limit: PAGE,
      ...(owner === undefined ? {} : { workspace: owner }),
      ...(after === undefined ? {} : { after }),
    })
    found.push(...page.filter(isWithin))
    after = page.at(-1)?.id
    if (page.length < PAGE) break
  }
  return found
}

/** Defaults first, with their changes. */
export async function allRules(documents: DocumentStore): Promise<AlertRule[]> {
  const stored = await storedRules(documents)
  const byId = new Map(stored.map((document) => [document.id, ruleOf(document)]))
  const defaults = RULE_KIND_NAMES.map((kind) => byId.get(defaultRuleId(kind)) ?? defaultRule(kind))
  const own = [...byId].filter(([id]) => kindOfDefault(id) === undefined).map(([, rule]) => rule)
  return [...defaults, ...own.filter((rule) => rule !== null)]
}

/** The rule with an id and its document version, 0 for an unchanged default; null if there is none. */
export async function oneRule(
  documents: DocumentStore,
  id: string,
): Promise<{ readonly rule: AlertRule; readonly version: number } | null> {
  const document = await documents.get('alert_rule', id)
  const rule = document && ruleOf(document)
  if (rule) return { rule, version: document.version }
  const kind = kindOfDefault(id)
  return kind === undefined ? null : { rule: defaultRule(kind), version: document?.version ?? 0 }
}
