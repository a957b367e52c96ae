/** Alert rules over HTTP: the defaults that nobody stored, and those that people wrote; what the settings of a kind are is said in `observe/alert-rule.ts`. */
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
    /** The only workspace it looks at; absent: all of them. */
    workspace: Name.optional(),
    /** Who is told; null or absent: every channel. */
    channels: z.array(Id).max(50).nullish(),
    /** How long its reason must be gone before an alert is resolved. */
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
    /** Whether it is a default that nobody has changed. */
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
  summary: 'All rules: the defaults, changed or not, and those that were added.',
  scope: 'read',
  answers: { 200: { description: 'The rules.', schema: z.object({ data: z.array(RuleBody) }) } },
})

export const createAlertRule = operation({
  ...shared,
  id: 'createAlertRule',
  method: 'post',
  path: '/alert-rules',
  summary: 'Add a rule.',
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
  summary: 'Get a rule.',
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
  summary: 'Replace a rule, or change a default; what is left out is as by default.',
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
  summary: 'Remove a rule and resolve its alerts; a default is again as it was.',
  action: 'alert_rule.delete',
  params,
  answers: { 204: { description: 'It is gone, or as by default.' } },
  refusals: ['NOT_FOUND'],
})
