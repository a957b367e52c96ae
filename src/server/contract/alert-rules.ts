/** Alert rules over HTTP: built-in defaults and stored rules. `observe/alert-rule.ts` defines the settings of each kind. */
import { z } from 'zod'
import { SEVERITIES } from '../../observe/alert-rule.ts'
import { operation } from '../operation.ts'
import { Kind } from './alerts.ts'
import { component, DurationText, Id, Name } from './vocabulary.ts'

const shared = { resource: 'alert-rules', reach: 'workspace', scope: 'admin' } as const

const RuleId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,99}$/, 'is not the id of a rule')
const Settings = z.record(z.string().max(60), z.union([z.string().max(200), z.number()]))

const RuleFields = component(
  'NewAlertRule',
  z.strictObject({
    kind: Kind,
    name: Name.optional(),
    enabled: z.boolean().optional(),
    severity: z.enum(SEVERITIES).optional(),
    /** The only workspace the rule checks; absent: all workspaces. */
    workspace: Name.optional(),
    /** The channels to notify; null or absent: every channel. */
    channels: z.array(Id).max(50).nullish(),
    /** How long the condition must be clear before an alert resolves. */
    resolveAfter: DurationText.optional(),
    settings: Settings.optional(),
  }),
)

export const RuleBody = component(
  'AlertRule',
  z.object({
    id: z.string(),
    kind: Kind,
    name: z.string(),
    enabled: z.boolean(),
    severity: z.enum(SEVERITIES),
    workspace: z.string().nullable(),
    channels: z.array(z.string()).nullable(),
    resolveAfter: DurationText,
    settings: Settings,
    /** Whether this is an unchanged default. */
    isDefault: z.boolean(),
  }),
)
const One = { description: 'The rule as it is now.', schema: RuleBody }
const Tagged = { ...One, headers: ['ETag'] }
const params = z.object({ id: RuleId })

export const listAlertRules = operation({
  ...shared,
  id: 'listAlertRules',
  method: 'get',
  path: '/alert-rules',
  summary: 'List alert rules: all defaults, changed or not, and added rules.',
  scope: 'read',
  answers: { 200: { description: 'The rules.', schema: z.object({ data: z.array(RuleBody) }) } },
})

export const createAlertRule = operation({
  ...shared,
  id: 'createAlertRule',
  method: 'post',
  path: '/alert-rules',
  summary: 'Add an alert rule.',
  action: 'alert_rule.create',
  recovery: 'repeat',
  body: RuleFields,
  answers: { 201: { ...One, headers: ['Location'] } },
  refusals: ['QUOTA_REACHED'],
})

export const getAlertRule = operation({
  ...shared,
  id: 'getAlertRule',
  method: 'get',
  path: '/alert-rules/{id}',
  summary: 'Get an alert rule.',
  scope: 'read',
  params,
  answers: { 200: Tagged },
  refusals: ['NOT_FOUND', 'PRECONDITION_FAILED'],
})

export const putAlertRule = operation({
  ...shared,
  id: 'putAlertRule',
  method: 'put',
  path: '/alert-rules/{id}',
  summary: 'Replace a rule, or change a default. Fields that are left out get their default values.',
  action: 'alert_rule.put',
  params,
  body: RuleFields,
  answers: { 200: Tagged },
  refusals: ['NOT_FOUND', 'PRECONDITION_FAILED'],
})

export const deleteAlertRule = operation({
  ...shared,
  id: 'deleteAlertRule',
  method: 'delete',
  path: '/alert-rules/{id}',
  summary: 'Remove a rule and resolve its alerts. Removing a changed default restores the original.',
  action: 'alert_rule.delete',
  params,
  answers: { 204: { description: 'The rule is removed, or back to its default.' } },
  refusals: ['NOT_FOUND'],
})
