/** Explains a timing before it is saved: a description, its fields, the next occurrences, warnings. */
import { z } from 'zod'
import { withAliases } from '../aliases.ts'
import { operation } from '../operation.ts'
import { POLICIES, TIMING } from './schedule-shape.ts'
import { component, Instant, InstantText, Name, Warnings } from './vocabulary.ts'

export const Spec = component(
  'TimingSpec',
  z.strictObject({ ...TIMING, jitter: POLICIES.jitter, key: Name.optional(), workspace: Name.optional() }),
)

export const explainTiming = operation({
  id: 'explainTiming',
  method: 'post',
  path: '/explain',
  summary: 'Explain a timing: what it means, when it fires next, and warnings. Nothing is saved.',
  resource: 'explain',
  scope: 'read',
  reach: 'workspace',
  body: withAliases(Spec.extend({ n: z.int().min(1).max(100).optional(), from: InstantText.optional() })),
  answers: {
    200: {
      description: 'Description, fields, next occurrences, warnings.',
      schema: z.object({
        when: z.string(),
        fields: z.record(z.string(), z.object({ text: z.string(), values: z.array(z.number()) })),
        firesPerYear: z.int(),
        next: z.array(z.object({ scheduledAt: Instant, dueAt: Instant })),
        warnings: Warnings,
      }),
    },
  },
})
