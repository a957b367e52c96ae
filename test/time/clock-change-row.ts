/** One row of a truth table about clock changes, and how a row is held; the rows themselves stand in the tests. */
import { expect } from 'vitest'
import { type CronOptions, parseCron } from '../../src/cron.ts'

export interface Row {
  readonly why: string
  readonly cron: string
  readonly zone: string
  readonly dst?: NonNullable<CronOptions['dst']>
  /** The window, from < occurrence <= to, and everything that happens in it; all in UTC. */
  readonly from: string
  readonly to: string
  readonly fires: readonly string[]
}

const instant = (text: string): Date => new Date(`${text}Z`)
const shown = (at: Date): string => at.toISOString().replace(/(:00)?\.000Z$/, '')

export function expectRow({ cron, zone, dst, from, to, fires }: Row): void {
  const timing = parseCron(cron, dst === undefined ? { timezone: zone } : { timezone: zone, dst })
  expect([...timing.between(instant(from), instant(to))].map(shown)).toEqual(fires)
  expect(timing.count(instant(from), instant(to))).toBe(fires.length)
  const last = timing.prev(new Date(instant(to).getTime() + 1))
  expect(last && shown(last), 'prev sees the same').toBe(fires.at(-1))
  for (const at of fires) expect(timing.matches(instant(at)), at).toBe(true)
}
