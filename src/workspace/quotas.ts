/** Names what a workspace may have only so much of; how much, and who counts it, is decided by the server. */
export const QUOTA_NAMES = [
  'schedules',
  'pendingRuns',
  'queues',
  'tags',
  'channels',
  'rules',
  'streams',
  'smallestInterval',
  'payloadBytesPerDay',
] as const

export type QuotaName = (typeof QUOTA_NAMES)[number]
