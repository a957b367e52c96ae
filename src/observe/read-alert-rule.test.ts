import { describe, expect, it } from 'vitest'
import { defaultRuleId, kindOfDefault, RULE_KIND_NAMES } from './alert-rule.ts'
import { defaultRule, readRule, writtenRule } from './read-alert-rule.ts'

const fleet = { id: 'r', workspace: '' }

describe('a rule', () => {
  it.each(RULE_KIND_NAMES)('of kind %s exists without being stored, and reads back as it was written', (kind) => {
    const rule = defaultRule(kind)
    expect(rule).toMatchObject({ id: defaultRuleId(kind), kind, enabled: true, workspace: '', channels: null })
    expect(kindOfDefault(rule.id)).toBe(kind)
    expect(readRule(rule, writtenRule(rule))).toEqual(rule)
  })

  it('has a minute of grace before a schedule counts as not fired', () => {
    expect(defaultRule('schedule_not_fired')).toMatchObject({
      id: 'default-schedule-not-fired',
      severity: 'critical',
      settings: { graceMs: 60_000 },
    })
  })

  it('takes durations as text and keeps what was set', () => {
    const settings = { grace: '5m' }
    const written = { kind: 'schedule_not_fired', enabled: false, severity: 'info', channels: ['c', 'c'], settings }
    const rule = readRule({ id: 'mine', workspace: 'acme' }, { ...written, name: 'Late', resolveAfter: '0s' })
    const kept = {
      workspace: 'acme',
      enabled: false,
      channels: ['c'],
      resolveAfterMs: 0,
      settings: { graceMs: 300_000 },
    }
    expect(rule).toMatchObject(kept)
    expect(writtenRule(rule)).toMatchObject({ settings, resolveAfter: '0s', name: 'Late' })
  })

  it.each([
    ['no object', null, 'OPTION_INVALID'],
    ['a list', [], 'OPTION_INVALID'],
    ['no kind', {}, 'OPTION_INVALID'],
    ['an unknown kind', { kind: 'toString' }, 'OPTION_INVALID'],
    ['an unknown field', { kind: 'missed', level: 1 }, 'OPTION_UNKNOWN'],
    ['a setting of another kind', { kind: 'missed', settings: { grace: '1m' } }, 'OPTION_UNKNOWN'],
    ['a setting where there is none', { kind: 'schedule_quarantined', settings: { count: 1 } }, 'OPTION_UNKNOWN'],
    ['a duration that is none', { kind: 'queue_age', settings: { age: 5 } }, 'DURATION_INVALID'],
    ['a duration that is too short', { kind: 'queue_age', settings: { age: '1ms' } }, 'OPTION_INVALID'],
    ['a window longer than is read', { kind: 'missed', settings: { window: '2d' } }, 'OPTION_INVALID'],
    ['a count of zero', { kind: 'failed_in_a_row', settings: { count: 0 } }, 'OPTION_INVALID'],
    ['half a count', { kind: 'failed_in_a_row', settings: { count: 2.5 } }, 'OPTION_INVALID'],
    ['a share above one', { kind: 'failure_rate', settings: { share: 1.5 } }, 'OPTION_INVALID'],
    ['no number', { kind: 'failure_rate', settings: { share: Number.NaN } }, 'OPTION_INVALID'],
    ['a job and a queue', { kind: 'failure_rate', settings: { job: 'a', queue: 'b' } }, 'OPTION_INVALID'],
    ['a name with a line break', { kind: 'missed', name: 'a\nb' }, 'OPTION_INVALID'],
    ['channels that are no list', { kind: 'missed', channels: 'ops' }, 'OPTION_INVALID'],
    ['a severity that is unknown', { kind: 'missed', severity: 'fatal' }, 'OPTION_INVALID'],
    ['enabled as text', { kind: 'missed', enabled: 'yes' }, 'OPTION_INVALID'],
  ])('is refused with %s', (_, given, code) => {
    expect(() => readRule(fleet, given)).toThrow(expect.objectContaining({ code }))
  })

  it('of a workspace cannot speak of the fleet, nor of a job of others', () => {
    const acme = { id: 'r', workspace: 'acme' }
    const invalid = expect.objectContaining({ code: 'OPTION_INVALID' })
    expect(() => readRule(acme, { kind: 'planner_stalled' })).toThrow(invalid)
    expect(() => readRule(acme, { kind: 'failure_rate', settings: { job: 'mail' } })).toThrow(invalid)
  })

  it('with the id of a default is of its kind', () => {
    const place = { id: 'default-missed', workspace: '' }
    expect(readRule(place, { kind: 'missed', enabled: false }).enabled).toBe(false)
    expect(() => readRule(place, { kind: 'queue_age' })).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
  })
})
