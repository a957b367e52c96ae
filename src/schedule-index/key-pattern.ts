/** Decides which storage keys a collection owns and what their rows are called; what a key stands for is the storage's matter. */
import { EverytickError, shown } from '../errors.ts'

export interface KeyPattern {
  matches(key: string): boolean
  /** The key without the pattern's literal prefix: `digest` for `schedules/digest` under `schedules/*`. */
  relative(key: string): string
}

/** Compares segment by segment, so that no pattern takes longer than its length. */
export function readPattern(pattern: string): KeyPattern {
  const segments = typeof pattern === 'string' ? pattern.split('/') : ['']
  if (segments.some((segment) => segment === '' || (segment.includes('*') && segment !== '*'))) {
    throw new EverytickError('OPTION_INVALID', `${shown(pattern)} is not a valid key pattern`, {
      hint: 'write it like schedules/*, where * stands for one whole segment',
    })
  }
  const prefix = pattern.includes('*') ? pattern.slice(0, pattern.indexOf('*')) : ''
  return {
    matches(key) {
      const given = key.split('/')
      const fits = (segment: string, at: number): boolean =>
        segment === '*' ? given[at] !== '' : segment === given[at]
      return given.length === segments.length && segments.every(fits)
    },
    relative: (key) => (key.startsWith(prefix) ? key.slice(prefix.length) : key),
  }
}
