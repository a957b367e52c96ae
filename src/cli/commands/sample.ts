/** `everytick sample`: a first look at the engine, a handful of schedules in several zones with what comes next; it stores and starts nothing. */
import { parseCron } from '../../schedule/cron.ts'
import { timeZone, tzdataVersion } from '../../schedule/time-zone.ts'
import { systemClock } from '../../time/clock.ts'
import { ownVersion } from '../config.ts'
import { distanceText, nominalTexts, utcText } from '../instant-text.ts'
import { jsonText, type View } from '../print.ts'

/** Chosen to show one thing each: steps, office hours, a clock change, the last day, the first weekday, an interval. */
const SAMPLES: readonly (readonly [expression: string, timezone: string])[] = [
  ['*/15 * * * *', 'UTC'],
  ['30 9 * * MON-FRI', 'America/New_York'],
  ['30 2 * * *', 'Europe/Berlin'],
  ['0 18 L * *', 'Asia/Tokyo'],
  ['0 10 * * MON#1', 'Australia/Sydney'],
  ['@every 90m', 'UTC'],
]
const SHOWN = 2

export function sample(options: { readonly json?: boolean }, view: View): string {
  const now = systemClock.now()
  const samples = SAMPLES.map(([expression, timezone]) => {
    const timing = parseCron(expression, { timezone })
    const instants = timing.nextMany(new Date(now), SHOWN).map((date) => date.getTime())
    const changes = timing.warnings(new Date(now)).filter(({ code }) => code.startsWith('DST_'))
    return { expression, timezone, when: timing.describe(), instants, changes: changes.map(({ text }) => text) }
  })
  if (options.json) {
    const rows = samples.map(({ instants, changes: _, ...rest }) => ({ ...rest, next: instants.map(utcText) }))
    return `${jsonText(rows)}\n`
  }
  const { bold, cyan, dim, yellow } = view.colours
  const blocks = samples.map(({ expression, timezone, when, instants, changes }) => {
    const nominal = nominalTexts(instants, timeZone(timezone))
    const rows = instants.map((at, i) => `    ${nominal[i]}  ${dim(`in ${distanceText(at - now)}`)}`)
    return [`  ${cyan(expression.padEnd(18))}${when}`, ...rows, ...changes.map((text) => `    ${yellow('⚠')} ${text}`)]
  })
  return [
    `${bold(`everytick ${ownVersion()}`)}  time-zone data ${tzdataVersion()}, ${utcText(now - (now % 1000))}`,
    '',
    ...blocks.flat(),
    '',
    'Ask about your own:  npx everytick explain "0 9 * * 1-5" --tz Europe/Berlin',
    '',
  ].join('\n')
}
