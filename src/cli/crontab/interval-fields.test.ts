import { expect, it } from 'vitest'
import { parseCron } from '../../schedule/cron.ts'
import { every } from '../../schedule/interval.ts'
import { intervalFields } from './interval-fields.ts'

it.each(['1m', '2m', '5m', '15m', '30m', '1h', '2h', '8h', '12h', '1d', '1w'])(
  'says every %s in fields that fire at the same instants',
  (duration) => {
    const interval = every(duration)
    const cron = parseCron(intervalFields(interval.intervalMs)!)
    for (const from of ['2026-02-27T22:58:00Z', '2027-12-31T23:59:59Z'].map((text) => new Date(text)))
      expect(cron.nextMany(from, 60)).toEqual(interval.nextMany(from, 60))
  },
)

it.each(['1s', '30s', '90s', '7m', '45m', '90m', '5h', '2d', '2w', '500ms'])(
  'has no fields for every %s',
  (duration) => {
    expect(intervalFields(every(duration).intervalMs)).toBeNull()
  },
)
