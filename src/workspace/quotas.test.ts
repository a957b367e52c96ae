import { describe, expect, it } from 'vitest'
import { type Limits, limitsOf, QUOTA_NAMES, QUOTAS, type QuotaSettings } from './quotas.ts'

const settings: QuotaSettings = {
  default: { schedules: 5, tags: null },
  workspaces: new Map([
    ['acme', { schedules: 7, queues: 2 }],
    ['free', { schedules: null, channels: null }],
  ]),
}
const BOUND = Object.fromEntries(QUOTA_NAMES.map((name) => [name, QUOTAS[name].bound]))
const without = (limits: object, ...names: string[]): Limits =>
  Object.fromEntries(Object.entries(limits).filter(([name]) => !names.includes(name)))

describe('the quotas of a workspace', () => {
  it.each<[string, QuotaSettings | null, string, boolean, Limits]>([
    ['are off for code and fleet keys where no option sets them', null, 'acme', false, {}],
    ['are the defaults for bound keys where no option sets them', null, 'acme', true, BOUND],
    ['are those of the option for everybody', settings, 'other', false, { schedules: 5 }],
    ['stand behind those of the workspace', settings, 'acme', false, { schedules: 7, queues: 2 }],
    ['are off for everybody where the option says so', settings, 'free', false, {}],
    [
      'fill up with the defaults for bound keys',
      settings,
      'acme',
      true,
      { ...without(BOUND, 'tags'), schedules: 7, queues: 2 },
    ],
    [
      'are off for bound keys too where the option says so',
      settings,
      'free',
      true,
      without(BOUND, 'tags', 'schedules', 'channels'),
    ],
  ])('%s', (_, given, workspace, isBound, expected) => {
    expect(limitsOf(given, { workspace, isBound })).toEqual(expected)
  })

  it('take no name of a workspace for a property of an object', () => {
    expect(limitsOf(settings, { workspace: '__proto__', isBound: false })).toEqual({ schedules: 5 })
  })
})
