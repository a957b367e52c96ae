/** Parses schedule names: key, workspace/key or key@workspace; the backend checks whether the schedule exists. */
import { segment } from './backend.ts'
import { UsageError } from './usage-error.ts'

export interface ScheduleName {
  readonly workspace: string
  readonly key: string
}

const DEFAULT = 'default'

/** Splits at the first slash, else at the last @. A key that contains one of them needs its workspace in front. */
export function readScheduleName(text: string, workspace = DEFAULT): ScheduleName {
  const slash = text.indexOf('/')
  const at = slash < 0 ? text.lastIndexOf('@') : -1
  const name =
    slash >= 0
      ? { workspace: text.slice(0, slash), key: text.slice(slash + 1) }
      : at >= 0
        ? { workspace: text.slice(at + 1), key: text.slice(0, at) }
        : { workspace, key: text }
  if (name.workspace !== '' && name.key !== '') return name
  throw new UsageError(`${JSON.stringify(text)} is not a schedule name`, { hint: 'use key or workspace/key' })
}

/** The shortest name that a command accepts for this schedule. */
export const scheduleText = ({ workspace, key }: ScheduleName): string =>
  workspace === DEFAULT && !/[/@]/.test(key) ? key : `${workspace}/${key}`

/** Its REST path. */
export const schedulePath = ({ workspace, key }: ScheduleName): string =>
  `/schedules/by-key/${segment(workspace)}/${segment(key)}`
