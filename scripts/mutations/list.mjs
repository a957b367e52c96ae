/** The mutants of all lists, and which of them a run takes: by name, or as a sample that a seed decides. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { placesOf } from './anchor.mjs'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The conformance suite of a store catches the mutants of that store; pure code is tested by the file beside it. */
const TESTS = { sqlite: 'test/stores/sqlite.test.ts', postgres: 'test/stores/postgres.test.ts', pure: null }
export const LISTS = Object.keys(TESTS)

export async function readMutants(lists = LISTS.map((list) => `test/stores/mutations/${list}.mjs`)) {
  const read = await Promise.all(
    lists.map(async (path) => {
      const { MUTATIONS } = await import(new URL(path, `file://${root}`))
      return MUTATIONS.map((mutation) => mutantOf(basename(path, '.mjs'), mutation))
    }),
  )
  return read.flat()
}

/** `test` is the file that must notice the mutant; with `byName`, only its tests that name the mutant count. */
function mutantOf(list, { kills, also = [], test, ...edit }) {
  const suite = TESTS[list]
  return {
    name: `${list}: ${kills} (${basename(edit.file)}, ${edit.in})`,
    list,
    kills,
    test: test ?? suite ?? edit.file.replace(/\.ts$/, '.test.ts'),
    byName: Boolean(suite),
    edits: [edit, ...also.map((other) => ({ file: edit.file, ...other }))],
  }
}

/** Why a mutant cannot be made in the sources as they are, or null. */
export function whyNotMade({ edits, test }) {
  if (!existsSync(join(root, test))) return `no such test: ${test}`
  for (const edit of edits) {
    const count = placesOf(readFileSync(join(root, edit.file), 'utf8'), edit).length
    if (count !== 1) return `found ${count} times in ${edit.in} of ${edit.file}: ${edit.find}`
  }
  return null
}

/** The same seed chooses the same mutants, in the order of the lists. */
export function sampleOf(mutants, count, seed) {
  const rank = ({ name }, place) => createHash('sha256').update(`${seed} ${place} ${name}`).digest('hex')
  const ranked = mutants.map((mutant, place) => ({ mutant, place, rank: rank(mutant, place) }))
  const chosen = ranked.sort((one, other) => (one.rank < other.rank ? -1 : 1)).slice(0, count)
  return chosen.sort((one, other) => one.place - other.place).map(({ mutant }) => mutant)
}
