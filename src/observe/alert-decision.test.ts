import { describe, expect, it } from 'vitest'
import { type Alert, acknowledged, muted, opened, resolved, unmuted } from './alert.ts'
import { decide, MAX_ALERTS } from './alert-decision.ts'
import type { RuleOf } from './alert-rule.ts'
import { defaultRule } from './read-alert-rule.ts'

const NOW = Date.parse('2027-01-01T12:00:00Z')
const MINUTE = 60_000
const rule = defaultRule('schedule_quarantined') as RuleOf<'schedule_quarantined'>
const facts = (...ids: string[]) => ({
  schedules: ids.map((id) => ({ id, workspace: 'acme', key: id, code: 'CRON_NAME', message: 'no such month' })),
})
const opening = (...ids: string[]): Alert[] =>
  decide(rule, facts(...ids), { alerts: [], now: NOW }).open.map((alert, i) => opened(alert, `a${i}`))
const ana = { by: 'ana', at: NOW }

describe('an alert', () => {
  it('is opened once for a rule and a subject', () => {
    const [alert] = opening('s1')
    expect(alert).toMatchObject({ state: 'open', subject: 'schedule s1', workspace: 'acme', untold: ['opened'] })
    const again = decide(rule, facts('s1', 's2'), { alerts: [alert!], now: NOW + 15_000 })
    expect(again).toMatchObject({ open: [{ subject: 'schedule s2' }], refresh: [], resolve: [] })
  })

  it('is written down again once a minute while it lasts, and tells nobody', () => {
    const alerts = opening('s1').map((alert) => ({ ...alert, untold: [] }))
    expect(decide(rule, facts('s1'), { alerts, now: NOW + MINUTE - 1 }).refresh).toEqual([])
    const { refresh } = decide(rule, facts('s1'), { alerts, now: NOW + MINUTE })
    expect(refresh).toMatchObject([{ seenAt: NOW + MINUTE, openedAt: NOW, untold: [] }])
  })

  it('is resolved only after its reason was gone for a while', () => {
    const alerts = opening('s1')
    const gone = decide(rule, facts(), { alerts, now: NOW })
    expect(gone).toMatchObject({ refresh: [{ clearedAt: NOW, state: 'open' }], resolve: [] })
    expect(decide(rule, facts(), { alerts: gone.refresh, now: NOW + 2 * MINUTE - 1 })).toEqual({
      open: [],
      refresh: [],
      resolve: [],
    })
    const { resolve } = decide(rule, facts(), { alerts: gone.refresh, now: NOW + 2 * MINUTE })
    expect(resolve).toMatchObject([{ state: 'resolved', untold: ['opened', 'resolved'], clearedAt: NOW }])
  })

  it('that comes and goes stays one alert', () => {
    const gone = decide(rule, facts(), { alerts: opening('s1'), now: NOW }).refresh
    const back = decide(rule, facts('s1'), { alerts: gone, now: NOW + MINUTE })
    expect(back).toMatchObject({ open: [], refresh: [{ clearedAt: null, untold: ['opened'] }], resolve: [] })
    expect(decide(rule, facts(), { alerts: back.refresh, now: NOW + 3 * MINUTE }).resolve).toEqual([])
  })

  it('that was resolved and comes back is a new one', () => {
    expect(decide(rule, facts('s1'), { alerts: [], now: NOW }).open).toHaveLength(1)
  })

  it('is resolved at once when its rule wants that, or is switched off', () => {
    const alerts = opening('s1')
    expect(decide({ ...rule, resolveAfterMs: 0 }, facts(), { alerts, now: NOW }).resolve).toHaveLength(1)
    const off = decide({ ...rule, enabled: false }, facts('s1', 's2'), { alerts, now: NOW })
    expect(off).toMatchObject({
      open: [],
      refresh: [],
      resolve: [{ state: 'resolved', resolved: { by: 'everytick' } }],
    })
  })

  it('that was acknowledged stays so until it is resolved', () => {
    const alert = acknowledged(opening('s1')[0]!, ana)!
    const { refresh } = decide(rule, facts('s1'), { alerts: [alert], now: NOW + MINUTE })
    expect(refresh).toMatchObject([{ state: 'acknowledged', acknowledged: ana }])
    expect(acknowledged(alert, ana)).toBeNull()
  })

  it('takes over what its rule says now', () => {
    const { refresh } = decide({ ...rule, severity: 'critical' }, facts('s1'), { alerts: opening('s1'), now: NOW })
    expect(refresh).toMatchObject([{ severity: 'critical' }])
  })

  it('tells that it is still there when its mute ends, each time again', () => {
    const told = { ...opening('s1')[0]!, untold: [] }
    const quiet = muted(told, NOW + MINUTE)!
    expect(decide(rule, facts('s1'), { alerts: [quiet], now: NOW + MINUTE - 1 }).refresh).toEqual([])
    const { refresh } = decide(rule, facts('s1'), { alerts: [quiet], now: NOW + MINUTE })
    expect(refresh).toMatchObject([{ mutedUntil: null, untold: [`unmuted@${NOW + MINUTE}`] }])
    const later = decide(rule, facts('s1'), { alerts: [muted(told, NOW + 2 * MINUTE)!], now: NOW + 2 * MINUTE })
    expect(later.refresh[0]!.untold).not.toEqual(refresh[0]!.untold)
  })

  it('that is resolved while it is muted tells nobody', () => {
    const quiet = muted({ ...opening('s1')[0]!, untold: [] }, NOW + MINUTE)!
    expect(resolved(quiet, ana)).toMatchObject({ state: 'resolved', untold: [] })
    expect(resolved(quiet, { by: 'ana', at: NOW + MINUTE })).toMatchObject({ untold: ['resolved'] })
  })

  it('that is resolved cannot be moved any more', () => {
    const over = resolved(opening('s1')[0]!, ana)!
    expect([acknowledged(over, ana), muted(over, NOW + 1), unmuted(over), resolved(over, ana)]).toEqual([
      null,
      null,
      null,
      null,
    ])
  })

  it('can be unmuted by hand only while it is muted', () => {
    const [alert] = opening('s1')
    expect(unmuted(alert!)).toBeNull()
    expect(unmuted(muted(alert!, NOW + MINUTE)!)).toMatchObject({ mutedUntil: null })
  })
})

describe('many alerts', () => {
  const many = Array.from({ length: 1000 }, (_, i) => `s${i}`)

  it('of one rule are bounded, and one more says how many there are', () => {
    const { open } = decide(rule, facts(...many), { alerts: [], now: NOW })
    expect(open).toHaveLength(MAX_ALERTS + 1)
    expect(open.at(-1)).toMatchObject({ subject: 'more acme', workspace: 'acme', values: { more: 950 } })
  })

  it('of one workspace take no place of another', () => {
    const { schedules } = facts(...many, 'theirs')
    const mixed = schedules.map((each) => (each.id === 'theirs' ? { ...each, workspace: 'victim' } : each))
    const { open } = decide(rule, { schedules: mixed }, { alerts: [], now: NOW })
    expect(open.filter(({ workspace }) => workspace === 'victim')).toMatchObject([{ subject: 'schedule theirs' }])
    expect(open).toHaveLength(MAX_ALERTS + 2)
  })

  it('leave those that are known standing', () => {
    const alerts = opening('s999')
    const { open, resolve, refresh } = decide(rule, facts(...many), { alerts, now: NOW })
    expect([open.length, resolve, refresh]).toEqual([MAX_ALERTS, [], []])
  })
})
