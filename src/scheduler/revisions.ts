/** Formats the revisions of a schedule: who changed it, when, and which fields. */
import type { Json } from '../json.ts'
import type { Revision } from '../store/contract/history.ts'

export interface FieldChange {
  /** Such as `timing.cron`. */
  readonly field: string
  /** Null when the field did not exist. */
  readonly before: Json
  readonly after: Json
}

export interface RevisionView extends Pick<Revision, 'kind' | 'revision' | 'by' | 'before' | 'after'> {
  readonly at: Date
  /** The changed fields, by name; empty when the schedule was removed. */
  readonly changes: readonly FieldChange[]
}

export function revisionView({ kind, revision, by, at, before, after }: Revision): RevisionView {
  const changes = kind === 'removed' ? [] : differences(before, after, '')
  return { kind, revision, by, at: new Date(at), before, after, changes }
}

/** Compares objects field by field, and all other values as a whole. */
export function differences(before: Json, after: Json, field: string): FieldChange[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
    return names.flatMap((name) =>
      differences(before[name] ?? null, after[name] ?? null, field === '' ? name : `${field}.${name}`),
    )
  }
  return sameJson(before, after) ? [] : [{ field, before, after }]
}

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function sameJson(a: Json, b: Json): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((each, i) => sameJson(each, b[i]!))
  return isObject(a) && isObject(b) ? differences(a, b, '').length === 0 : a === b
}
