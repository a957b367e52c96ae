/** How people name a schedule: its key, workspace/key or key@workspace; whether there is one is for the backend to say. */
import { segment } from './backend.ts'
import { UsageError } from './usage-error.ts'

export interface ScheduleName {
  readonly workspace: string
  readonly key: string
}

const DEFAULT = 'default'

/** Split at the first slash, else at the last @. A key that has one of them itself is written with its workspace in front. */
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
  throw new UsageError(`${JSON.stringify(text)} names no schedule`, { hint: 'write key or workspace/key' })
}

/** What can be typed to mean this schedule again. */
export const scheduleText = ({ workspace, key }: ScheduleName): string =>
  workspace === DEFAULT && !/[/@]/.test(key) ? key : `${workspace}/${key}`

/** Where it is, over REST. */
export const schedulePath = ({ workspace, key }: ScheduleName): string =>
  `/schedules/by-key/${segment(workspace)}/${segment(key)}`
