/** What happens, as it happens, as server-sent events. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { Id } from './vocabulary.ts'

export const followEvents = operation({
  id: 'followEvents',
  method: 'get',
  path: '/events',
  summary:
    'Follow what happens, as server-sent events. Last-Event-ID goes on where another connection ended, on any node; an event may then come twice, and never not at all. event: resync says that too much was missed.',
  resource: 'events',
  scope: 'read',
  reach: 'workspace',
  query: z.strictObject({
    /** Such as `run.*,schedule.paused`. */
    types: z
      .string()
      .max(500)
      .regex(/^[a-z_*.]+(?:,[a-z_*.]+){0,19}$/, 'is not a list of at most 20 types such as run.*,schedule.paused')
      .optional(),
    schedule: Id.optional(),
    /** Instead of the header, for clients that cannot send one. */
    lastEventId: z.string().min(1).max(200).optional(),
  }),
  answers: { 200: { description: 'Events, and a comment every 15 seconds.', mediaType: 'text/event-stream' } },
})
