/** Validates path parameters; the hint of a refusal says how to find an id. */
import { shown } from '../errors.ts'
import { ById } from './contract/vocabulary.ts'
import type { Operation } from './operation.ts'
import { Refusal } from './problem.ts'
import { validated } from './validate.ts'

export function readPathParams(
  { params, resource }: Pick<Operation, 'params' | 'resource'>,
  given: Readonly<Record<string, string>>,
): unknown {
  if (!params) return undefined
  if (params !== ById || params.safeParse(given).success) return validated(params, given, '{}')
  const { id = '' } = given
  throw new Refusal(
    'REQUEST_INVALID',
    `the path requires the id of ${NAMES[resource] ?? resource}, but ${shown(id)} is not an id`,
    {
      hint: HINTS[resource]?.(encodeURIComponent(id.slice(0, 60))) ?? 'ids are UUIDs',
      errors: [{ pointer: '{}id', message: 'is not an id' }],
    },
  )
}

const byBeginning = (list: string) => (): string => `GET ${list}?id= finds it by an id prefix`
const byName =
  (list: string) =>
  (id: string): string =>
    `GET ${list}?name=${id} finds it by name, ${list}?id= by an id prefix`

const NAMES: Readonly<Record<string, string>> = {
  schedules: 'a schedule',
  runs: 'a run',
  backfills: 'a backfill',
  operations: 'an operation',
  alerts: 'an alert',
  channels: 'a channel',
  'api-keys': 'an API key',
}

const HINTS: Readonly<Record<string, (id: string) => string>> = {
  schedules: (id) => `GET /schedules/by-key/{workspace}/${id} finds it by key and returns its id`,
  runs: byBeginning('/runs'),
  backfills: byBeginning('/backfills'),
  operations: byBeginning('/operations'),
  alerts: byBeginning('/alerts'),
  channels: byName('/channels'),
  'api-keys': byName('/api-keys'),
}
