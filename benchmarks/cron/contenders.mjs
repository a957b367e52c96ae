/** The three engines behind the same verbs, each used the way its own documentation does. */
import { readFileSync } from 'node:fs'
import { CronExpressionParser } from 'cron-parser'
import { Cron } from 'croner'
import { parseCron, tzdataVersion } from 'everytick/cron'

const versionOf = (url) => JSON.parse(readFileSync(url, 'utf8')).version
const installed = (name) => versionOf(new URL(`../../node_modules/${name}/package.json`, import.meta.url))

export const versions = {
  everytick: versionOf(new URL('../../package.json', import.meta.url)),
  croner: installed('croner'),
  'cron-parser': installed('cron-parser'),
  tzdata: tzdataVersion(),
}

export const parsers = {
  everytick: (expression, timezone) => parseCron(expression, { timezone }),
  croner: (expression, timezone) => new Cron(expression, { timezone, paused: true }),
  'cron-parser': (expression, timezone) => CronExpressionParser.parse(expression, { tz: timezone }),
}

/** Work for `race`: the next occurrence after one instant of many. Every engine is handed a Date and answers with one. */
export function nextWork(expression, timezone, dates) {
  const [ours, croner, parser] = Object.values(parsers).map((parse) => parse(expression, timezone))
  return worksOn(dates, {
    everytick: (date) => ours.next(date),
    croner: (date) => croner.nextRun(date),
    'cron-parser': (date) => {
      parser.reset(date)
      return parser.next().toDate()
    },
  })
}

export function prevWork(expression, timezone, dates) {
  const [ours, croner, parser] = Object.values(parsers).map((parse) => parse(expression, timezone))
  return worksOn(dates, {
    everytick: (date) => ours.prev(date),
    croner: (date) => croner.previousRuns(1, date)[0],
    'cron-parser': (date) => {
      parser.reset(date)
      return parser.prev().toDate()
    },
  })
}

/** More distinct expressions than any engine keeps, so that each call is a real parse. */
export function parseWork(expressions, timezone) {
  const works = Object.entries(parsers).map(([name, parse]) => [
    name,
    (count, start) => {
      let sum = 0
      for (let i = start; i < start + count; i++) if (parse(expressions[i % expressions.length], timezone)) sum++
      return sum
    },
  ])
  return Object.fromEntries(works)
}

function worksOn(dates, asks) {
  const works = Object.entries(asks).map(([name, ask]) => [
    name,
    (count, start) => {
      let sum = 0
      for (let i = start; i < start + count; i++) sum += ask(dates[i % dates.length]).getTime()
      return sum
    },
  ])
  return Object.fromEntries(works)
}
