import { describe, expect, it } from 'vitest'
import { parseCron } from './cron.ts'

/** Every construct of the grammar, and the sentence it must give. */
const SENTENCES: readonly (readonly [expression: string, sentence: string])[] = [
  ['* * * * *', 'Every minute.'],
  ['*/5 * * * *', 'Every 5 minutes.'],
  ['*/7 * * * *', 'Every 7th minute of every hour.'],
  ['30 2 * * *', 'Every day at 02:30 Europe/Berlin.'],
  ['0 9 * * 1-5', 'Monday to Friday at 09:00 Europe/Berlin.'],
  ['5 * * * *', 'Every hour at :05.'],
  ['0 */2 * * *', 'Every 2 hours at :00 (Europe/Berlin).'],
  ['15 */5 * * *', 'At minute 15 of every 5th hour (Europe/Berlin).'],
  ['0 0 1 * *', 'On day 1 of the month at 00:00 Europe/Berlin.'],
  ['0 22 1,31 * *', 'On days 1 and 31 of the month at 22:00 Europe/Berlin.'],
  ['0 0 13 * 5', 'On day 13 of the month or on Friday at 00:00 Europe/Berlin.'],
  ['0 0 */2 * 1', 'On every 2nd day of the month if it is a Monday at 00:00 Europe/Berlin.'],
  ['*/10 9-17 * * MON-FRI', 'Every 10 minutes from 09:00 to 17:59, Monday to Friday (Europe/Berlin).'],
  ['0,15,30 * * * *', 'At minutes 0, 15 and 30 of every hour.'],
  ['5-20/3 8 * * *', 'Every day at 08:05, 08:08, 08:11, 08:14, 08:17 and 08:20 Europe/Berlin.'],
  ['5/10 * * * *', 'At every 10th minute from 5 on of every hour.'],
  ['* * * * * *', 'Every second.'],
  ['*/15 * * * * *', 'Every 15 seconds.'],
  ['10 * * * * *', 'At second 10 of every minute.'],
  ['10,20 30 2 * * *', 'Every day at 02:30:10 and 02:30:20 Europe/Berlin.'],
  ['0 0 L * *', 'On the last day of the month at 00:00 Europe/Berlin.'],
  ['0 0 L-3 * *', 'On the 3rd day before the last day of the month at 00:00 Europe/Berlin.'],
  ['0 0 LW * *', 'On the last workday (Monday to Friday) of the month at 00:00 Europe/Berlin.'],
  [
    '0 0 15W,1W * *',
    'On the workday (Monday to Friday) nearest day 15 of the month and the workday (Monday to Friday) nearest day 1 of the month at 00:00 Europe/Berlin.',
  ],
  ['0 12 * * 5L', 'On the last Friday of the month at 12:00 Europe/Berlin.'],
  ['0 12 * * 5#2', 'On the 2nd Friday of the month at 12:00 Europe/Berlin.'],
  ['0 12 * JAN,MAR-JUN MON,WED', 'Every Monday and Wednesday in January and March to June at 12:00 Europe/Berlin.'],
  ['0 8 * 12 *', 'Every day in December at 08:00 Europe/Berlin.'],
  ['0 0 1 1 *', 'On day 1 in January at 00:00 Europe/Berlin.'],
  ['H H * * *', 'Every day at 15:35 Europe/Berlin, spread by H.'],
  ['H/15 * * * *', 'At every 15th minute from 5 to 59 of every hour, spread by H.'],
  ['0 0 1-31 * 1', 'Every day at 00:00 Europe/Berlin.'],
  ['0 0 ? * 7', 'Every Sunday at 00:00 Europe/Berlin.'],
  ['30 9,12,15 * * 1,3,5', 'Every Monday, Wednesday and Friday at 09:30, 12:30 and 15:30 Europe/Berlin.'],
  ['0 9-17 * * *', 'Every hour from 09:00 to 17:00 (Europe/Berlin).'],
  ['0 0 1 */3 *', 'On day 1 in January, April, July and October at 00:00 Europe/Berlin.'],
  ['0 0 */2 * *', 'On every 2nd day of the month at 00:00 Europe/Berlin.'],
  ['0 0 * * */2', 'Every Sunday, Tuesday, Thursday and Saturday at 00:00 Europe/Berlin.'],
  ['0 0 1,15 * 5#2', 'On days 1 and 15 of the month or on the 2nd Friday of the month at 00:00 Europe/Berlin.'],
  ['*/5 */2 * * *', 'Every 5 minutes of every 2nd hour (Europe/Berlin).'],
  ['0 0 * * FRI-SUN', 'Friday to Sunday at 00:00 Europe/Berlin.'],
  ['30 0-6,22,23 * * *', 'At minute 30 in the hours 0 to 6, 22 and 23 (Europe/Berlin).'],
  ['0 0 L,15 6 *', 'On day 15 and the last day in June at 00:00 Europe/Berlin.'],
  ['@hourly', 'Every hour at :00.'],
  ['0 0 1 * */2', 'On day 1 of the month if it is a Sunday, Tuesday, Thursday or Saturday at 00:00 Europe/Berlin.'],
  ['1,2,3,4,5,6,7 1,2 * * *', 'At minutes 1, 2, 3, 4, 5, 6 and 7 from 01:00 to 02:59 (Europe/Berlin).'],
  ['30 5 10 * * *', 'Every day at 10:05:30 Europe/Berlin.'],
  ['*/2 5 10 * * *', 'Every 2 seconds of minute 5 from 10:00 to 10:59 (Europe/Berlin).'],
  ['5 */5 * * * *', 'At second 5 of every 5th minute of every hour.'],
  ['* 9 * * *', 'Every minute from 09:00 to 09:59 (Europe/Berlin).'],
  [
    '0 0 L-3W * *',
    'On the workday (Monday to Friday) nearest the 3rd day before the last day of the month at 00:00 Europe/Berlin.',
  ],
  [
    '0 0 L-1W 6 *',
    'On the workday (Monday to Friday) nearest the day before the last day in June at 00:00 Europe/Berlin.',
  ],
  ['0 12 * * FRI#L', 'On the last Friday of the month at 12:00 Europe/Berlin.'],
  ['0 12 1 * +MON', 'On day 1 of the month if it is a Monday at 12:00 Europe/Berlin.'],
  [
    '0 12 13 * +MON,5#L',
    'On day 13 of the month if it is a Monday or the last Friday of the month at 12:00 Europe/Berlin.',
  ],
  ['0 12 * * +MON', 'Every Monday at 12:00 Europe/Berlin.'],
  ['0 0 9 1 1 * 2027', 'On day 1 in January of 2027 at 09:00 Europe/Berlin.'],
  ['0 0 9 * * * 2027', 'Every day in 2027 at 09:00 Europe/Berlin.'],
  ['0 0 9 L * * 2027-2029,2031', 'On the last day of the month in 2027 to 2029 and 2031 at 09:00 Europe/Berlin.'],
  ['0 */5 * * * * 2027', 'Every 5 minutes, in 2027 (Europe/Berlin).'],
  ['0 0 9 1 * * 1970-2199/2', 'On day 1 of the month in every 2nd year from 1970 to 2199 at 09:00 Europe/Berlin.'],
  ['0 0 9 1 * * */2', 'On day 1 of the month in every 2nd year from 1970 on at 09:00 Europe/Berlin.'],
  ['0 0 9 1 * * 2027/3', 'On day 1 of the month in every 3rd year from 2027 on at 09:00 Europe/Berlin.'],
  ['0 0 9 * * * *', 'Every day at 09:00 Europe/Berlin.'],
  ['@every_minute', 'Every minute.'],
  ['@every_second', 'Every second.'],
  ['0 0 29 2 *', 'On day 29 in February at 00:00 Europe/Berlin.'],
]

describe('describe', () => {
  it.each(SENTENCES)('says %s as "%s"', (expression, sentence) => {
    expect(parseCron(expression, { timezone: 'Europe/Berlin', seed: 'w/k' }).describe()).toBe(sentence)
  })

  it('says an interval by its distance', () => {
    expect(parseCron('@every 90s').describe()).toBe('Every 1m30s.')
  })
})
