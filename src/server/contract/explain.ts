/** What a timing means before it is saved: words, fields, coming occurrences, what to mind. */
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
  summary: 'Say what a timing means, when it fires next, and what to mind; nothing is saved.',
  resource: 'explain',
  scope: 'read',
  reach: 'workspace',
  body: withAliases(Spec.extend({ n: z.int().min(1).max(100).optional(), from: InstantText.optional() })),
  answers: {
    200: {
      description: 'Words, fields, occurrences, warnings.',
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
