/** Reads the comments above a crontab line: the schedule it was exported from, its Ansible name, or a description. */

export interface Remark {
  /** From a marker that our export writes. */
  readonly key: string | null
  readonly job: string | null
  /** A name in the comment, to derive a key from. */
  readonly name: string | null
  readonly description: string | null
}

const MARK = 'everytick '
const ANSIBLE = /^ansible:\s*(\S.*)$/i
const MAX_DESCRIPTION = 300

export function readRemark(comments: readonly string[]): Remark {
  const mark = comments.findLast((each) => each.startsWith(`${MARK}{`))
  const spoken = comments.filter((each) => each !== mark).at(-1)
  const [, name = null] = ANSIBLE.exec(spoken ?? '') ?? []
  return { ...readMark(mark), name, description: descriptionOf(name ?? spoken ?? '') }
}

export const markOf = ({ key, job }: { readonly key: string; readonly job: string }): string =>
  `# ${MARK}${JSON.stringify(job === key ? { key } : { key, job })}`

/** Null when it is not a description. Truncates between characters. */
function descriptionOf(comment: string): string | null {
  const text = Array.from(comment.replace(/^#+\s*/, ''))
    .slice(0, MAX_DESCRIPTION)
    .join('')
    .trim()
  return isProse(text) ? text : null
}

const NO_MARK = { key: null, job: null }

function readMark(mark: string | undefined): Pick<Remark, 'key' | 'job'> {
  if (mark === undefined) return NO_MARK
  try {
    const { key, job = key } = JSON.parse(mark.slice(MARK.length)) as { readonly key?: unknown; readonly job?: unknown }
    return isName(key) && isName(job) ? { key, job } : NO_MARK
  } catch {
    return NO_MARK
  }
}

/** A name that the server accepts. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 200 && !/[\p{Cc}\p{Surrogate}]/u.test(value)

/** A sentence, not a column heading, a commented-out line or a row of dashes. */
function isProse(comment: string): boolean {
  if (!/\p{L}{2}/u.test(comment) || /[\p{Cc}\p{Surrogate}]/u.test(comment)) return false
  if (/\bdow\b|day of (?:the )?week|\bcommand to be executed\b/i.test(comment)) return false
  return !/^[-#]*(?:@[a-z]+\s|[\d*][^\s]*\s+[\d*]|[A-Za-z_]\w*\s*=)/.test(comment)
}
