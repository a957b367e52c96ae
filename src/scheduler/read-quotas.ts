/** Reads the option `quotas`: the limits of workspaces; `workspace/quotas.ts` defines what they mean. */
import { checkKeys, type Duration, readDuration, readInteger, readName } from '../options.ts'
import { QUOTA_NAMES, QUOTAS, type QuotaChoice, type QuotaName, type QuotaSettings } from '../workspace/quotas.ts'

/** A count, a number of bytes for `payloadBytesPerDay`, or a duration for `smallestInterval`; `off` for no limit. */
export type QuotaOptions = Readonly<
  Partial<Record<Exclude<QuotaName, 'smallestInterval'>, number | 'off'> & { smallestInterval: Duration | 'off' }>
>

export interface QuotasOption {
  /** For every workspace and every caller: code, fleet keys and bound keys. */
  readonly default?: QuotaOptions
  /** For single workspaces; overrides `default`. */
  readonly workspaces?: Readonly<Record<string, QuotaOptions>>
}

const MAX = { count: 1_000_000_000, bytes: Number.MAX_SAFE_INTEGER } as const

/** Null when the option is absent: then only bound keys have quotas. */
export function readQuotas(option: QuotasOption | undefined): QuotaSettings | null {
  if (option === undefined) return null
  checkKeys(option, ['default', 'workspaces'], 'quotas')
  const { workspaces = {} } = option
  if (typeof workspaces !== 'object' || workspaces === null || Array.isArray(workspaces))
    checkKeys(workspaces, [], 'quotas.workspaces')
  const own = Object.entries(workspaces).map(([name, given]): [string, QuotaChoice] => {
    readName(name, 'a workspace in quotas.workspaces')
    return [name, readChoice(given, `quotas.workspaces[${JSON.stringify(name)}]`)]
  })
  return Object.freeze({ default: readChoice(option.default ?? {}, 'quotas.default'), workspaces: new Map(own) })
}

function readChoice(given: QuotaOptions, of: string): QuotaChoice {
  checkKeys(given, QUOTA_NAMES, of)
  const said = QUOTA_NAMES.filter((name) => given[name] !== undefined)
  return Object.freeze(
    Object.fromEntries(said.map((name) => [name, readLimit(given[name], { name, of: `${of}.${name}` })])),
  )
}

function readLimit(value: unknown, { name, of }: { readonly name: QuotaName; readonly of: string }): number | null {
  if (value === 'off') return null
  const { unit } = QUOTAS[name]
  return unit === 'ms' ? readDuration(value, of) : readInteger(value, of, [0, MAX[unit]])
}
