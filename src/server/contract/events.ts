/** The live event stream, as server-sent events. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { Id } from './vocabulary.ts'

export const followEvents = operation({
  id: 'followEvents',
  method: 'get',
  path: '/events',
  summary:
    'Stream events as server-sent events. Last-Event-ID resumes on any node where another connection ended; events are delivered at least once. event: resync means that too many were missed to replay.',
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
    /** For clients that cannot send the Last-Event-ID header. */
    lastEventId: z.string().min(1).max(200).optional(),
  }),
  answers: { 200: { description: 'Events, and a comment every 15 seconds.', mediaType: 'text/event-stream' } },
})
