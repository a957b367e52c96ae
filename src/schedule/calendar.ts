/** Days to dates and back in the proleptic Gregorian calendar, as pure integer arithmetic; no zones, no clocks. */

export const SECOND_MS = 1000
export const DAY_MS = 86_400_000

/** Days since 1970-01-01 of the first day of a month; `month` counts from 1. Eras of 400 years keep it right for all years. */
export function monthStart(year: number, month: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = ((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) | 0
  return era * 146_097 + yearOfEra * 365 + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0) + dayOfYear - 719_468
}

/** Year and month of a day, packed as year * 16 + month so that nothing is allocated. */
export function yearMonth(day: number): number {
  const shifted = day + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra =
    ((dayOfEra - ((dayOfEra / 1460) | 0) + ((dayOfEra / 36_524) | 0) - ((dayOfEra / 146_096) | 0)) / 365) | 0
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0))
  const shiftedMonth = ((5 * dayOfYear + 2) / 153) | 0
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0)) * 16 + month
}

export function monthLength(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** 0 is Sunday; 1970-01-01 was a Thursday. */
export function weekdayOf(day: number): number {
  const weekday = (day + 4) % 7
  return weekday < 0 ? weekday + 7 : weekday
}
