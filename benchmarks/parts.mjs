/** Results that are made part by part: what stands in one while parts of it are missing, how one more is put in, and which part speaks for a row. */

/**
 * The result with one more part, `{ name, measuredAt, commit, seconds, rows }`, in place of what it said of it before; parts
 * that were never measured are named with `measuredAt: null`. What was measured on another machine is left out: a part of
 * that is none of this. A part that `failed` changes nothing where there is an earlier one.
 */
export function withPart(kept, names, { part, about }) {
  const before = kept !== null && isSameMachine(kept.machine, about.machine) ? kept : null
  const earlier = new Map((before?.parts ?? []).map((each) => [each.name, each]))
  const { rows, ...facts } = part
  const isNew = facts.failed === undefined || !earlier.get(part.name)?.measuredAt
  const said = isNew ? (facts.failed === undefined ? facts : { ...facts, measuredAt: null }) : earlier.get(part.name)
  const parts = names.map((name) => (name === part.name ? said : (earlier.get(name) ?? { name, measuredAt: null })))
  const rowsOf = (name) =>
    name === part.name && isNew
      ? rows.map((row) => ({ ...row, part: name }))
      : (before?.rows ?? []).filter((row) => row.part === name)
  return { ...about, measuredAt: part.measuredAt, commit: part.commit, parts, rows: names.flatMap(rowsOf) }
}

const isSameMachine = (a, b) => ['cpu', 'cores', 'memoryGb', 'platform', 'node'].every((name) => a?.[name] === b[name])

/** What is said of a row: when and of what its own part was measured. */
export function ofRow(result, row) {
  const part = result.parts?.find(({ name }) => name === row.part)
  return part === undefined ? result : { ...result, measuredAt: part.measuredAt, commit: part.commit }
}

/** A result for each commit that parts of this one were measured at, oldest first, with the names of those parts. */
export function byCommit(result) {
  if (result.parts === undefined) return [result]
  const groups = new Map()
  const measured = result.parts.filter(({ measuredAt }) => measuredAt !== null)
  for (const part of measured.toSorted((a, b) => (a.measuredAt < b.measuredAt ? -1 : 1))) {
    const key = JSON.stringify(part.commit)
    groups.set(key, [...(groups.get(key) ?? []), part])
  }
  return [...groups.values()].map((parts) => ({
    ...result,
    commit: parts[0].commit,
    measuredAt: parts[0].measuredAt,
    partNames: parts.map(({ name }) => name),
    rows: result.rows.filter((row) => parts.some(({ name }) => name === row.part)),
  }))
}

/** The names of parts that nobody has measured. */
export const missingParts = ({ parts = [] }) =>
  parts.filter(({ measuredAt }) => measuredAt === null).map(({ name }) => name)
