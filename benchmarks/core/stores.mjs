/** Carries out measurements on each store in turn and names their rows; what is measured is the caller's, what must be reached `targets.mjs`. */
import { readFileSync } from 'node:fs'
import { CONCURRENCY } from './load.mjs'
import { targetOf } from './targets.mjs'

/** Loaded when asked for, so that one can be measured without the other's driver. */
const STORES = {
  sqlite: async () => (await import('./sqlite-place.mjs')).sqlitePlaces(),
  postgres: async () => (await import('./postgres-place.mjs')).postgresPlaces(),
}

/** A measure is `(places, size, note)` and answers rows without store and target. */
export async function measureStores(measures, { size, note, store }) {
  const rows = []
  const versions = { everytick: JSON.parse(readFileSync(new URL('../../package.json', import.meta.url))).version }
  const settings = { ...size, concurrency: CONCURRENCY }
  for (const kind of store === undefined ? Object.keys(STORES) : [store]) {
    const places = await STORES[kind]()
    versions[kind] = places.version
    settings[kind] = places.settings
    try {
      for (const measure of measures) {
        for (const row of await measure(places, size, note)) rows.push(of(kind, row))
      }
    } finally {
      await places.close()
    }
  }
  return { rows, versions, settings }
}

/** Lines that continue the one before do not repeat the store. */
const of = (kind, { id, what, unit, ours, rivals = {}, ...rest }) => ({
  id: `${kind}-${id}`,
  what: `${(what.startsWith(' ') ? '' : kind).padEnd(10)}${what}`,
  unit,
  ours,
  rivals,
  ...targetOf(kind, id),
  ...rest,
})
