/** Every known case in which croner 11 or cron-parser 5 answers otherwise than the rules, with the rule; the test asks all three. */
import type { Question } from './oracles.ts'

export interface Difference extends Question {
  /** What they do, and the rule that says otherwise. */
  readonly name: string
  /** Instants in UTC. */
  readonly right: readonly string[]
  /** Their instants, or the error they end in. */
  readonly wrong: readonly string[] | RegExp
}

const NEW_YORK = 'America/New_York'
const LORD_HOWE = 'Australia/Lord_Howe'

const next = (cron: string, zone: string, asked: string): Question => ({
  cron,
  zone,
  asked: `${asked}Z`,
  direction: 'next',
})
const prev = (cron: string, zone: string, asked: string): Question => ({
  cron,
  zone,
  asked: `${asked}Z`,
  direction: 'prev',
})

const STARRED_DAYS: Omit<Difference, 'name'> = {
  ...next('0 0 */2 * 1', 'UTC', '2026-02-01T00:00'),
  right: ['2026-02-09T00:00', '2026-02-23T00:00'],
  wrong: ['2026-02-02T00:00', '2026-02-03T00:00'],
}

export const CRONER_DIFFERENCES: readonly Difference[] = [
  {
    name: 'loses 1 March when it looks for a 31st in February (each listed day counts)',
    ...next('0 22 1,31 * *', 'UTC', '2022-02-27T00:00'),
    right: ['2022-03-01T22:00', '2022-03-31T22:00'],
    wrong: ['2022-03-31T22:00', '2022-04-01T22:00'],
  },
  {
    name: 'loses 1 March when a weekday is named too (either matches)',
    ...next('0 0 1,15 * 1', 'UTC', '2026-02-25T00:00'),
    right: ['2026-03-01T00:00', '2026-03-02T00:00'],
    wrong: ['2026-03-02T00:00', '2026-03-09T00:00'],
  },
  {
    name: 'loses the 1st after a February it stepped through',
    ...next('0 12 */10 * *', 'UTC', '2026-02-21T21:00'),
    right: ['2026-03-01T12:00'],
    wrong: ['2026-03-11T12:00'],
  },
  { name: 'takes a stepped star for a restricted day (a star at the start means both)', ...STARRED_DAYS },
  {
    name: 'runs a list of minutes in both passes (wall times count once per day)',
    ...next('0,30 1 * * *', NEW_YORK, '2026-10-31T12:00'),
    right: ['2026-11-01T05:00', '2026-11-01T05:30', '2026-11-02T06:00'],
    wrong: ['2026-11-01T05:00', '2026-11-01T05:30', '2026-11-01T06:00'],
  },
  {
    name: 'runs a list of minutes in both passes, looking back',
    ...prev('0,30 1 * * *', NEW_YORK, '2026-11-01T12:00'),
    right: ['2026-11-01T05:30', '2026-11-01T05:00'],
    wrong: ['2026-11-01T06:30', '2026-11-01T06:00'],
  },
  {
    name: 'forgets the moved run of a list, looking back (missing times run after the gap)',
    ...prev('0,30 2 * * *', NEW_YORK, '2026-03-08T07:00:12'),
    right: ['2026-03-08T07:00', '2026-03-07T07:30'],
    wrong: ['2026-03-07T07:30', '2026-03-07T07:00'],
  },
  {
    name: 'skips the current minute when asked a fraction of a second into it',
    ...prev('* * * * *', 'UTC', '2026-03-08T08:00:00.500'),
    right: ['2026-03-08T08:00'],
    wrong: ['2026-03-08T07:59'],
  },
  {
    name: 'moves a run over a seven-hour jump (more than three hours is a calendar change)',
    ...next('0 3 * * *', 'Antarctica/Vostok', '1994-10-31T12:00'),
    right: ['1994-11-01T20:00'],
    wrong: ['1994-11-01T00:00'],
  },
  {
    name: 'refuses a step from a number',
    ...next('5/15 * * * *', 'UTC', '2026-03-01T00:00'),
    right: ['2026-03-01T00:05', '2026-03-01T00:20'],
    wrong: /stepping with numeric prefix/,
  },
  {
    name: 'refuses days before the last',
    ...next('0 0 L-3 * *', 'UTC', '2026-03-01T00:00'),
    right: ['2026-03-28T00:00'],
    wrong: /illegal lower range/,
  },
]

export const CRON_PARSER_DIFFERENCES: readonly Difference[] = [
  {
    name: 'moves a missing time by the width of the gap (it runs at the first instant after)',
    ...next('30 2 * * *', NEW_YORK, '2026-03-07T12:00'),
    right: ['2026-03-08T07:00'],
    wrong: ['2026-03-08T07:30'],
  },
  {
    name: 'gives the second pass when asked between the two (first instant only)',
    ...next('30 1 * * *', NEW_YORK, '2026-11-01T06:10'),
    right: ['2026-11-02T06:30'],
    wrong: ['2026-11-01T06:30'],
  },
  {
    name: 'gives both passes, looking back',
    ...prev('30 1 * * *', NEW_YORK, '2026-11-01T12:00'),
    right: ['2026-11-01T05:30', '2026-10-31T05:30'],
    wrong: ['2026-11-01T06:30', '2026-11-01T05:30'],
  },
  {
    name: 'forgets the moved run, looking back',
    ...prev('30 2 * * *', NEW_YORK, '2026-03-08T12:00'),
    right: ['2026-03-08T07:00'],
    wrong: ['2026-03-07T07:30'],
  },
  {
    name: 'loses the day when half an hour is missing',
    ...next('15 2 * * *', LORD_HOWE, '2026-10-02T20:00'),
    right: ['2026-10-03T15:30', '2026-10-04T15:15'],
    wrong: ['2026-10-04T15:15', '2026-10-05T15:15'],
  },
  {
    name: 'is silent for 45 minutes when half an hour repeats (both passes run)',
    ...next('*/15 * * * *', LORD_HOWE, '2026-04-04T14:40'),
    right: ['2026-04-04T14:45', '2026-04-04T15:00', '2026-04-04T15:15', '2026-04-04T15:30'],
    wrong: ['2026-04-04T14:45', '2026-04-04T15:30'],
  },
  {
    name: 'is silent for 45 minutes when half an hour is missing',
    ...next('*/15 * * * *', LORD_HOWE, '2026-10-03T15:10'),
    right: ['2026-10-03T15:15', '2026-10-03T15:30', '2026-10-03T15:45', '2026-10-03T16:00'],
    wrong: ['2026-10-03T15:15', '2026-10-03T16:00'],
  },
  {
    name: 'loses the day that has no midnight, in Beirut',
    ...next('0 0 * * *', 'Asia/Beirut', '2026-03-28T12:00'),
    right: ['2026-03-28T22:00', '2026-03-29T21:00'],
    wrong: ['2026-03-29T21:00', '2026-03-30T21:00'],
  },
  {
    name: 'gives up looking back over a missing midnight',
    ...prev('0 0 * * *', 'Asia/Beirut', '2026-03-29T12:00'),
    right: ['2026-03-28T22:00'],
    wrong: /loop limit exceeded/,
  },
  {
    name: 'loses the week whose Sunday has no midnight, in Santiago',
    ...next('0 0 * * 0', 'America/Santiago', '2026-09-05T12:00'),
    right: ['2026-09-06T04:00', '2026-09-13T03:00'],
    wrong: ['2026-09-13T03:00', '2026-09-20T03:00'],
  },
  { name: 'takes a stepped star for a restricted day (a star at the start means both)', ...STARRED_DAYS },
  {
    name: 'counts weekday steps up to 7, so that Sunday joins in (the week ends on Saturday)',
    ...next('0 0 * * 1/2', 'UTC', '2026-03-01T00:00'),
    right: ['2026-03-02T00:00', '2026-03-04T00:00', '2026-03-06T00:00', '2026-03-09T00:00'],
    wrong: ['2026-03-02T00:00', '2026-03-04T00:00', '2026-03-06T00:00', '2026-03-08T00:00'],
  },
  {
    name: 'refuses a value given twice',
    ...next('1,1 0 * * *', 'UTC', '2026-01-01T00:00'),
    right: ['2026-01-01T00:01'],
    wrong: /duplicate values/,
  },
  {
    name: 'refuses a range that closes on Sunday by name',
    ...next('0 0 * * FRI-SUN', 'UTC', '2026-03-01T00:00'),
    right: ['2026-03-06T00:00', '2026-03-07T00:00', '2026-03-08T00:00'],
    wrong: /Invalid range/,
  },
  ...['15W', 'LW'].map((day) => ({
    name: `refuses working days (${day})`,
    ...next(`0 0 ${day} 4 *`, 'UTC', '2026-03-01T00:00'),
    right: [day === 'LW' ? '2026-04-30T00:00' : '2026-04-15T00:00'],
    wrong: /Invalid characters/,
  })),
  {
    name: 'refuses days before the last',
    ...next('0 0 L-3 * *', 'UTC', '2026-03-01T00:00'),
    right: ['2026-03-28T00:00'],
    wrong: /Constraint error/,
  },
]
