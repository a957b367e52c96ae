/** Alerts over HTTP: list, acknowledge, mute and resolve them. */
import { z } from 'zod'
import { ALERT_STATES } from '../../observe/alert.ts'
import { RULE_KIND_NAMES, type RuleKind, SEVERITIES } from '../../observe/alert-rule.ts'
import { operation } from '../operation.ts'
import {
  ById,
  component,
  DurationText,
  Id,
  IdBeginning,
  Instant,
  InstantText,
  PAGE,
  pageOf,
  StoredName,
} from './vocabulary.ts'

const shared = { resource: 'alerts', reach: 'workspace' } as const

export const Kind = z.enum(RULE_KIND_NAMES as [RuleKind, ...RuleKind[]])
const Act = z.object({ by: z.string(), at: Instant }).nullable()

export const AlertBody = component(
  'Alert',
  z.object({
    id: Id,
    /** The id of its rule. */
    rule: z.string(),
    kind: Kind,
    severity: z.enum(SEVERITIES),
    /** Null for alerts about the whole fleet. */
    workspace: z.string().nullable(),
    subject: z.string(),
    title: z.string(),
    values: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
    state: z.enum(ALERT_STATES),
    openedAt: Instant,
    seenAt: Instant,
    /** Since when the condition no longer holds; null while it holds. */
    clearedAt: Instant.nullable(),
    acknowledged: Act,
    resolved: Act,
    mutedUntil: Instant.nullable(),
  }),
)
const One = { 200: { description: 'The alert as it is now.', schema: AlertBody } }
const byId = { ...shared, params: ById, scope: 'operate', answers: One } as const

export const listAlerts = operation({
  ...shared,
  id: 'listAlerts',
  method: 'get',
  path: '/alerts',
  summary: 'List alerts, newest first.',
  scope: 'read',
  query: z.strictObject({
    /** An id, or the beginning of one. */
    id: IdBeginning.optional(),
    state: z.enum(ALERT_STATES).optional(),
    workspace: StoredName.optional(),
    ...PAGE,
  }),
  answers: { 200: { description: 'A page of alerts.', schema: pageOf(AlertBody) } },
  refusals: ['CURSOR_INVALID'],
})

export const getAlert = operation({
  ...byId,
  id: 'getAlert',
  method: 'get',
  path: '/alerts/{id}',
  summary: 'Get an alert.',
  scope: 'read',
  refusals: ['NOT_FOUND'],
})

export const acknowledgeAlert = operation({
  ...byId,
  id: 'acknowledgeAlert',
  method: 'post',
  path: '/alerts/{id}/acknowledge',
  summary: 'Acknowledge an alert. It stays open until its condition clears.',
  action: 'alert.acknowledge',
  recovery: 'repeat',
  refusals: ['NOT_FOUND', 'NOT_ACCEPTABLE_STATE'],
})

export const muteAlert = operation({
  ...byId,
  id: 'muteAlert',
  method: 'post',
  path: '/alerts/{id}/mute',
  summary:
    'Mute the notifications of an alert for a while. If it is still open afterwards, channels are notified again.',
  action: 'alert.mute',
  recovery: 'repeat',
  body: z.strictObject({ until: InstantText.optional(), for: DurationText.optional() }),
  refusals: ['NOT_FOUND', 'NOT_ACCEPTABLE_STATE'],
})

export const unmuteAlert = operation({
  ...byId,
  id: 'unmuteAlert',
  method: 'post',
  path: '/alerts/{id}/unmute',
  summary: 'Unmute an alert.',
  action: 'alert.unmute',
  recovery: 'repeat',
  refusals: ['NOT_FOUND', 'NOT_ACCEPTABLE_STATE'],
})

export const resolveAlert = operation({
  ...byId,
  id: 'resolveAlert',
  method: 'post',
  path: '/alerts/{id}/resolve',
  summary: 'Resolve an alert manually. If its condition still holds, a new alert opens.',
  action: 'alert.resolve',
  recovery: 'repeat',
  refusals: ['NOT_FOUND'],
})
