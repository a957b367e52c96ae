/** The line that `dev` prints for one event: time, sign, name and details; pure. */
import type { Run } from '../../run/run.ts'
import { printable, type View } from '../print.ts'

const two = (value: number): string => String(value).padStart(2, '0')

/** In the local time zone, so that it matches the user's clock. */
export function clockText(at: number): string {
  const date = new Date(at)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
}

const preciseText = (at: number): string =>
  `${clockText(at)}.${String(new Date(at).getMilliseconds()).padStart(3, '0')}`

export const nameOf = ({ workspace, schedule, job }: Pick<Run, 'workspace' | 'schedule' | 'job'>): string =>
  qualified(workspace, schedule?.key ?? job)

export const qualified = (workspace: string, key: string): string =>
  workspace === 'default' ? key : `${workspace}/${key}`

export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} m ${Math.round((ms % 60_000) / 1000)} s`
}

export type Sign = 'start' | 'end' | 'again' | 'fail' | 'skip' | 'miss' | 'log' | 'stop'

export interface Line {
  readonly at: number
  readonly sign: Sign
  readonly name: string
  /** Parts after the name; empty parts are left out. */
  readonly parts: readonly string[]
}

const NAME_WIDTH = 12

export function lineText({ at, sign, name, parts }: Line, { colours }: View): string {
  const { green, red, yellow, dim, cyan } = colours
  const signs: Record<Sign, string> = {
    start: '▶',
    end: green('✓'),
    again: yellow('↻'),
    fail: red('✗'),
    skip: yellow('⊘'),
    miss: yellow('○'),
    log: cyan('·'),
    stop: dim('■'),
  }
  const text = parts
    .filter((part) => part !== '')
    .map(printable)
    .join('  ')
  return `  ${dim(preciseText(at))} ${signs[sign]} ${printable(name).padEnd(NAME_WIDTH)}  ${text}\n`
}

export const lagText = (at: number, dueAt: number): string => `lag ${durationText(Math.max(0, at - dueAt))}`

export const nextText = (nextAt: number | null): string => (nextAt === null ? '' : `next ${clockText(nextAt)}`)

const REASONS: Readonly<Record<string, string>> = {
  overlap: 'the previous run was still active',
  paused: 'paused',
  excluded: 'excluded',
  before_start: 'before its startAt',
  dst_gap: 'the clock skipped this local time',
  max_runs: 'it has reached maxRuns',
  edited: 'its timing has changed',
  window: 'older than the catch-up window',
  limit: 'beyond the catch-up limit',
  policy: 'excluded by its catch-up policy',
}

export const reasonText = (reason: string): string => REASONS[reason] ?? reason
