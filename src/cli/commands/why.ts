/** `everytick why`: prints what happened to an occurrence, the checks and the fix; the scheduler finds them. */
import { answer, type JsonOption } from '../answer.ts'
import type { BackendOptions } from '../backend.ts'
import { type Io, withBackend } from '../io.ts'
import { printable, rowsText, type View, width } from '../print.ts'
import { scheduleText } from '../schedule-name.ts'
import { storedSchedule } from '../stored-schedule.ts'

export type WhyOptions = BackendOptions & JsonOption

export interface Why {
  readonly at: string
  readonly slot: string | null
  readonly verdict: string
  readonly reason: string | null
  readonly sentence: string
  readonly hint: string | null
  readonly checks: readonly { readonly name: string; readonly ok: boolean | null; readonly text: string }[]
}

export function why(
  waitForStop: { readonly name: string; readonly at: string },
  options: WhyOptions,
  io: Io,
): Promise<void> {
  return withBackend(options, async (backend) => {
    const schedule = await storedSchedule(backend, waitForStop.name)
    const found = await backend.ask<Why>('GET', `/schedules/${schedule.id}/why`, { query: { at: waitForStop.at } })
    await answer(found, { ...options, io }, (body, view) => whyText(scheduleText(schedule), body, view))
  })
}

const MARKS = { true: '✓', false: '✗', null: '·' } as const
const markOf = (ok: boolean | null): string => MARKS[`${ok}`]

/** The scheduler's hint, with the CLI command for it if there is one. */
function fixOf(name: string, { hint, reason }: Why): string | null {
  const command = COMMANDS[reason ?? '']
  return hint === null || command === undefined ? hint : `${hint}: everytick ${command(name)}`
}

const COMMANDS: Readonly<Record<string, (name: string) => string>> = {
  paused: (name) => `schedules resume ${name}`,
  no_scheduler: () => 'serve',
}

export function whyText(name: string, why: Why, view: View): string {
  const { slot, at, verdict, sentence, checks } = why
  const fix = fixOf(name, why)
  if (!view.terminal) {
    const rows = checks.map((check) => [markOf(check.ok), check.name, check.text])
    return rowsText([], [['=', verdict, sentence], ...rows, ...(fix === null ? [] : [['→', 'fix', fix]])], view)
  }
  const { bold, dim, green, red, cyan } = view.colours
  const colour = (ok: boolean | null): string => (ok === null ? dim : ok ? green : red)(markOf(ok))
  const widest = Math.max(0, ...checks.map((check) => width(check.name)))
  const lines = [
    `${bold(printable(name))}  ${dim(printable(slot ?? at))}`,
    bold(printable(sentence)),
    ...checks.map((check) => `${colour(check.ok)} ${dim(check.name.padEnd(widest))}  ${printable(check.text)}`),
    ...(fix === null ? [] : [`${cyan('→')} ${printable(fix)}`]),
  ]
  return lines.map((line) => `  ${line}\n`).join('')
}
