/** Decides why a text is no time zone's name and what its author probably meant; which names exist is handed in. */
import { didYouMean } from '../did-you-mean.ts'
import { EverytickError } from '../errors.ts'
import { zonesMeantBy } from './zone-abbreviation.ts'

/** What the refusals need to know of the accepted zones. */
export interface ZoneNames {
  all(): readonly string[]
  followsDst(name: string): boolean
}

const MAX_LENGTH = 64
const MOST_EDITS = 3
const ANY_NAME = 'use an IANA name such as Europe/Berlin, America/New_York or UTC'

/** Places that keep an offset which no `Etc` zone has. */
const PART_HOURS: ReadonlyMap<string, string> = new Map([
  ['-09:30', 'Pacific/Marquesas'],
  ['-03:30', 'America/St_Johns'],
  ['+03:30', 'Asia/Tehran'],
  ['+04:30', 'Asia/Kabul'],
  ['+05:30', 'Asia/Kolkata'],
  ['+05:45', 'Asia/Kathmandu'],
  ['+06:30', 'Asia/Yangon'],
  ['+08:45', 'Australia/Eucla'],
  ['+09:30', 'Australia/Darwin'],
  ['+10:30', 'Australia/Lord_Howe'],
  ['+12:45', 'Pacific/Chatham'],
])

/** Gives back a text that may be looked up, or throws. Length comes first, so that nothing below meets a long text. */
export function zoneText(name: unknown): string {
  if (typeof name !== 'string') throw refusal(`a time zone is a string, not ${name === null ? 'null' : typeof name}.`)
  if (name.length > MAX_LENGTH) throw refusal(`the time zone is longer than ${MAX_LENGTH} characters.`)
  if (name.trim() === '') throw refusal('the time zone is empty.')
  if (/\p{C}/u.test(name)) throw refusal(`${quoted(name)} contains a control character.`)
  return name
}

/** The refusal of an abbreviation or of a plain offset, which no data can make a zone; undefined for any other text. */
export function notationRefusal(name: string, names: ZoneNames): EverytickError | undefined {
  const meant = zonesMeantBy(name)
  if (meant) {
    const [likeliest, other] = meant.map((zone) => `${zone} (${habit(zone, names)})`)
    return refusal(`${quoted(name)} is an abbreviation, not a zone.`, `did you mean ${likeliest} or ${other}?`)
  }
  const offset = /^(?:UTC|GMT)? ?([+−-]) ?(\d{1,2})(?::?(\d{2}))?$/i.exec(name)
  if (offset) return refusal(`${quoted(name)} is an offset, not a zone.`, offsetHint(offset))
  if (/^[Zz]$/.test(name)) return refusal(`${quoted(name)} is an offset, not a zone.`, 'did you mean UTC?')
  return undefined
}

/** The refusal of a name that is not in the data. */
export function unknownZone(name: string, names: ZoneNames): EverytickError {
  const notation = notationRefusal(name, names)
  if (notation) return notation
  const near = nearest(name, names.all())
  const hint = near.length > 0 ? `did you mean ${near.join(' or ')}?` : ANY_NAME
  return refusal(`${quoted(name)} is not an IANA time zone.`, hint)
}

/** The refusal of a real zone that this Node's own data lacks. */
export function unknownToRuntime(name: string): EverytickError {
  return refusal(`${quoted(name)} is not in this runtime's time-zone data.`, 'use the bundled data, or a newer Node')
}

function habit(zone: string, names: ZoneNames): string {
  if (names.followsDst(zone)) return 'follows DST'
  return zone.includes('Etc/') || zone === 'UTC' ? 'fixed' : 'no DST'
}

function offsetHint([, sign = '', hourText = '', minuteText = '00']: RegExpExecArray): string {
  const east = sign === '+'
  const hours = Number(hourText)
  const offset = `${east ? '+' : '-'}${hourText.padStart(2, '0')}:${minuteText}`
  if (hours === 0 && minuteText === '00') return 'did you mean UTC?'
  if (minuteText === '00' && hours <= (east ? 14 : 12)) {
    // The database keeps the POSIX sense of the sign, in which hours west of Greenwich are positive.
    return `Etc/GMT${east ? '-' : '+'}${hours} is the fixed zone at ${offset} (its sign is reversed); better name a place`
  }
  const place = PART_HOURS.get(offset)
  return place ? `name a place that keeps ${offset}, such as ${place}` : ANY_NAME
}

/** Up to two names that the text is close to, as a whole or, for a text without a slash, by their last part. */
function nearest(text: string, names: readonly string[]): string[] {
  const typed = text.trim().replaceAll(' ', '_')
  const part = (name: string) => (typed.includes('/') ? name : name.slice(name.lastIndexOf('/') + 1))
  // A much longer or shorter name cannot be close, and leaving those out keeps a hostile text cheap.
  const likely = names.map(part).filter((known) => Math.abs(known.length - typed.length) <= MOST_EDITS)
  const best = didYouMean(typed, likely)
  return names.filter((name) => part(name) === best).slice(0, 2)
}

/** The text in quotes, with whatever could disturb a terminal or a log written as its code. */
function quoted(text: string): string {
  return `"${text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)}"`
}

function refusal(message: string, hint: string = ANY_NAME): EverytickError {
  return new EverytickError('TIMEZONE_UNKNOWN', message, { hint })
}
