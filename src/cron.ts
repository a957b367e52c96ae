/** The door `everytick/cron`: occurrences of cron expressions, intervals and single instants, with no database. */
export { type ErrorCode, EverytickError, type Span } from './errors.ts'
export type { Fold, Gap } from './schedule/clock-change.ts'
export { Cron, type CronOptions, parseCron } from './schedule/cron.ts'
export type { FieldName } from './schedule/cron-field.ts'
export { every, Interval, type IntervalOptions } from './schedule/interval.ts'
export { Once, once } from './schedule/once.ts'
export { tzdataVersion, type ZoneSource, zoneNames } from './schedule/time-zone.ts'
export { type FieldView, Timing, type Warning } from './schedule/timing.ts'
