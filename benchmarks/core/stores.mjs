/** Executes measurements on each store in turn and names their rows; what is measured is the caller's, what must be reached `targets.mjs`. */
import { readFileSync } from 'node:fs'
import { CONCURRENCY } from './load.mjs'
import { createStored } from './stored.mjs'
import { targetOf } from './targets.mjs'

/** Loaded when asked for, so that one can be measured without the other's driver. */
const STORES = {
  sqlite: async () => (await import('./sqlite-place.mjs')).sqlitePlaces(),
  postgres: async (how) => (await import('./postgres-place.mjs')).postgresPlaces(how),
}

/** A measure is `(places, size, note)` and answers rows without store and target. */
export async function measureStores(measures, { size, quick, note, store }) {
  const rows = []
  const [versions, settings] = [{}, {}]
  for (const kind of store === undefined ? Object.keys(STORES) : [store]) {
    const at = await openStore(kind, { size, quick, note })
    Object.assign(versions, at.versions)
    Object.assign(settings, at.settings)
    try {
      for (const measure of measures) rows.push(...(await at.measured(measure)))
    } finally {
      await at.close()
    }
  }
  return { rows, versions, settings }
}

/** One store to measure on: `measured(measure)` answers its rows, named and with their targets. */
export async function openStore(kind, { size, quick, note }) {
  const places = await STORES[kind]({ quick })
  const startedAt = performance.now()
  const told = (text) => note(`${kind} ${elapsedText(performance.now() - startedAt)}  ${text}`)
  const { stored, dropStored } = createStored(places, told)
  return {
    versions: {
      everytick: JSON.parse(readFileSync(new URL('../../package.json', import.meta.url))).version,
      [kind]: places.version,
    },
    settings: { ...size, concurrency: CONCURRENCY, [kind]: places.settings },
    told,
    measured: async (measure) => (await measure({ ...places, stored }, size, told)).map((row) => of(kind, row)),
    async close() {
      await dropStored()
      await places.close()
    },
  }
}

/** `3:07` */
const elapsedText = (ms) => `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, '0')}`

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
