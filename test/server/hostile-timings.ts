/** Timings that cost as much as a timing can, and are accepted all the same; those that are refused stand beside them. */

/** A hundred exclusions that leave nothing of a dense expression. The zone of the last one is another, so that they cannot all be merged. */
export const ALMOST_NOTHING = {
  cron: '1-59/2 * * * * *',
  exclude: [
    ...Array.from({ length: 98 }, (_, i) => `${i % 2}-59/2 ${i % 60} * * * *`),
    '1-59/4 * * * * *',
    { cron: '3-59/4 * * * * *', timezone: 'Asia/Kolkata' },
  ],
}
const seconds = (without: number): string =>
  Array.from({ length: 60 }, (_, second) => second)
    .filter((second) => second !== without)
    .join(',')
/** Each of them names all seconds but one, in as many words as an expression may have. */
const LONG = `${seconds(59)} 0-58`

const ZONES = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Africa/Casablanca', 'Australia/Lord_Howe'],
  ...['Asia/Tokyo', 'America/St_Johns', 'Pacific/Apia', 'Europe/London'],
]
const two = (value: number): string => String(value).padStart(2, '0')

/** Exclusions of one zone, of which none can be told from the others without being read. */
const manyCrons = (salt: number): string[] =>
  Array.from({ length: 100 }, (_, i) => `${LONG} ${(i + salt) % 24} ${1 + (i % 28)} ${1 + ((i + salt) % 12)} *`)
const manyZones = (salt: number): object[] =>
  Array.from({ length: 100 }, (_, i) => ({
    cron: `${LONG} ${(i + salt) % 24} * * ${i % 7}`,
    timezone: ZONES[i % ZONES.length],
  }))
const manyRanges = (): string[] =>
  Array.from(
    { length: 100 },
    (_, i) =>
      `20${two(30 + Math.floor(i / 4))}-${two(1 + 3 * (i % 4))}-01/20${two(30 + Math.floor(i / 4))}-${two(2 + 3 * (i % 4))}-15`,
  )
/**
 * The request of the finding: left is one second a day, and none of the expressions leaves out more than every other second
 * of what the rule names, so that a search that asks each of them about each occurrence takes half a minute for a hundred.
 */
const needles = (): string[] => [
  ...Array.from({ length: 95 }, (_, i) => `${(2 * i) % 30}-58/2 * * ${1 + (i % 28)}-31 * *`),
  ...[
    '1-59/4 * 0-22 * * *',
    '3-59/4 * 0-22 * * *',
    '1-59/4 0-58 23 * * *',
    '3-59/4 0-58 23 * * *',
    '1-57/2 59 23 * * *',
  ],
]

const manyRules = (salt = 0): object[] =>
  ZONES.map((timezone, i) => ({ cron: `${(i + salt) % 60}-59/${1 + i} * * * * *`, timezone }))

/** The next leap year, and a rule of its 29 February that has no other within 28 years; the odd years between are asked in vain. */
const leap = Array.from({ length: 8 }, (_, i) => new Date().getUTCFullYear() + 1 + i).find((year) => year % 4 === 0)!
const RARE_DAY = `29 2 +${new Date(Date.UTC(leap, 1, 29)).getUTCDay()} ${leap},${leap + 1}-${leap + 27}/2,${leap + 28}`
const rareRules = (salt: number): object[] =>
  Array.from({ length: 9 }, (_, i) => ({
    cron: `${(i + salt) % 60} ${i} 3 ${RARE_DAY}`,
    timezone: 'Europe/Berlin',
    dst: { fold: 'second' },
  }))

/** By what they are hostile to. */
export const HOSTILE: Readonly<Record<string, (salt: number) => object>> = {
  parsing: (salt) => ({ cron: '1-59/2 * * * * *', exclude: manyCrons(salt) }),
  zones: (salt) => ({ cron: '* * * * * *', timezone: 'Europe/Berlin', exclude: manyZones(salt) }),
  words: () => ({ cron: '30 2 * * *', timezone: 'Africa/Casablanca', dst: { gap: 'skip' }, exclude: manyRanges() }),
  rules: (salt) => ({ any: manyRules(salt), exclude: manyZones(salt) }),
  dense: (salt) => ({ any: manyRules(salt) }),
  needles: () => ({ cron: '1-59/2 * * * * *', exclude: needles() }),
  years: () => ({ cron: '0 0 0 29 2 * 2028-2099/4', timezone: 'Europe/Berlin' }),
  rare: (salt) => ({
    any: [{ cron: '1-59/2 * * * * *' }, ...rareRules(salt)],
    exclude: needles(),
    startAt: `${leap}-03-01T00:00:00Z`,
  }),
  apart: (salt) => ({ any: ZONES.map((timezone, i) => ({ cron: `${(i + salt) % 60} * * * * *`, timezone })) }),
  instants: (salt) => ({ every: `${100 + salt}ms`, exclude: manyZones(salt) }),
}
