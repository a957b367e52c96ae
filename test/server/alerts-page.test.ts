/** Holds the page about alerts to the rules that there are. */
import { expect, it } from 'vitest'
import { RULE_KINDS, type RuleKind } from '../../src/observe/alert-rule.ts'
import { defaultRule, writtenRule } from '../../src/observe/read-alert-rule.ts'
import { rowsUnder } from '../markdown.ts'

const settingsOf = (kind: RuleKind): string => {
  const written = writtenRule(defaultRule(kind)).settings as Record<string, unknown>
  return Object.keys(RULE_KINDS[kind].settings)
    .map((name) => (written[name] === undefined ? name : `${name} ${written[name]}`))
    .join(', ')
}

it('the page about alerts lists every kind of rule with what can be set, and no other', () => {
  const listed = rowsUnder('docs/how-to/alerts.md', ['Kind', 'Opens when', 'Settings'])
  const rows = listed.map(([kind, , settings = '']) => [kind, settings.replaceAll('`', '')])
  expect(rows).toEqual((Object.keys(RULE_KINDS) as RuleKind[]).map((kind) => [kind, settingsOf(kind)]))
})
