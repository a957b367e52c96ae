/** The short form of `npm run neighbours`, and what it judges. Lateness, alerts and Postgres are left to the long form, because they depend on what else the machine does. */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { OPERATION_RULES, type OperationRule } from '../src/server/operation-rules.ts'
import { ensureBuilt, root } from './built-package.ts'
import * as timings from './server/hostile-timings.ts'

interface Seen {
  readonly beside: { readonly count: number; readonly p99: number }
  readonly expected: number
  readonly leasesLost: number
  readonly alerts: readonly { readonly job: string; readonly queue?: string; readonly afterMs: number | null }[]
  readonly memory: Readonly<Record<string, number>>
  readonly audit: { readonly exit: number; readonly said: string }
  readonly answers: Readonly<Record<string, number>>
  readonly exits: readonly unknown[]
  readonly lines: readonly { readonly of: string; readonly level: string; readonly message: string }[]
}
type Makers = Readonly<Record<string, readonly (() => readonly [string, string, unknown?])[]>>

const at = (path: string): Promise<unknown> => import(pathToFileURL(join(root, 'scripts', path)).href)
const { playNeighbours, failures } = (await at('neighbours.mjs')) as {
  playNeighbours(store: string, seconds: number, options: { hasAlerts: boolean }): Promise<Seen>
  failures(seen: Seen, options?: { isTimed: boolean }): string[]
}
const { createAttacks, MUST_ACCEPT, STREAMS } = (await at('neighbours/attacks.mjs')) as {
  createAttacks(options: object): Makers
  readonly MUST_ACCEPT: readonly string[]
  readonly STREAMS: Readonly<Record<string, unknown>>
}
const attacks = createAttacks({ known: () => 'none', timings })
const SECONDS = 5

describe('a workspace on SQLite beside one whose key does its worst', () => {
  beforeAll(ensureBuilt, 120_000)

  it('keeps its runs and its leases, and the server its memory', async () => {
    const { answers, ...seen } = await playNeighbours('sqlite', SECONDS, { hasAlerts: false })
    expect(failures({ answers, ...seen }, { isTimed: false }), JSON.stringify(seen, null, 1)).toEqual([])
  }, 240_000)
})

describe('the attack', () => {
  it('has requests for every operation of a bound operate key that costs more than one row', () => {
    const costly = Object.entries<OperationRule>(OPERATION_RULES).filter(
      ([, { scope, reach, cost }]) =>
        reach === 'workspace' && (scope === 'read' || scope === 'operate') && !['probe', 'read'].includes(cost),
    )
    expect(Object.keys({ ...attacks, ...STREAMS }).sort()).toEqual(costly.map(([id]) => id).sort())
  })

  it('makes a request of each of them', () => {
    for (const make of Object.values(attacks).flat()) {
      const [method, path] = make()
      expect(`${method} ${path}`).toMatch(/^[A-Z]+ \/\S+$/)
    }
  })
})

describe('the judge of the attack', () => {
  const accepted = Object.fromEntries(MUST_ACCEPT.map((name) => [`${name} 200`, 1]))
  const well: Seen = {
    ...{ beside: { count: 900, p99: 250 }, expected: 900, leasesLost: 0, exits: [0, 0], lines: [] },
    ...{ alerts: [{ job: 'fails-0', afterMs: 3000 }], memory: { serve: 399 }, audit: { exit: 0, said: '' } },
    answers: accepted,
  }
  const found = (changes: Partial<Seen>, isTimed = true): string[] => failures({ ...well, ...changes }, { isTimed })

  it('finds nothing where all was kept', () => {
    expect(found({})).toEqual([])
    expect(found({ answers: { ...accepted, 'enqueueRun 409': 5, 'overview 503': 2, 'overview 429': 1 } })).toEqual([])
  })

  it('finds what was not kept', () => {
    const late = { beside: { count: 900, p99: 251 } }
    expect(found(late)).toEqual(["the victim's lateness p99 is 251 ms, at most 250"])
    expect(found(late, false)).toEqual([])
    expect(found({ beside: { count: 849, p99: 1 } })).toEqual(['the victim began 849 runs of 900'])
    expect(found({ leasesLost: 1 })).toEqual(['1 leases were lost'])
    expect(found({ alerts: [{ job: 'fails-0', afterMs: null }] })).toEqual([
      'the fleet was not alerted to job fails-0 of the victim',
    ])
    expect(found({ alerts: [{ job: 'bulk', queue: 'idle', afterMs: null }] })).toEqual([
      'the fleet was not alerted to queue idle of the victim',
    ])
    expect(found({ memory: { serve: 400, worker: 1 } })).toEqual(['serve took 400 MB, less than 400'])
    expect(found({ audit: { exit: 5, said: '1 lost' } })).toEqual(['the ledger of the victim does not add up: 1 lost'])
    const line = { of: 'serve', level: 'unreadable', message: '    at Socket' }
    expect(found({ lines: [line, { ...line, level: 'error' }] })).toEqual([
      'serve wrote a line that is no entry of its log:     at Socket',
    ])
    expect(found({ exits: [0, 'SIGSEGV'] })).toEqual(['serve and worker ended with 0 and SIGSEGV'])
  })

  it('finds a fault, a request that was cut off, and an attack that was none', () => {
    const answers = { ...accepted, 'overview 500': 2, 'readLedger ECONNRESET': 3, 'readSpikes TIMEOUT': 1 }
    expect(found({ answers })).toEqual(['2 times overview 500', '3 times readLedger ECONNRESET'])
    const { 'readLedger 200': _, ...others } = accepted
    expect(found({ answers: { ...others, 'readLedger 429': 9 } })).toEqual(['readLedger was never accepted'])
  })
})
