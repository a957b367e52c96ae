/** Keeps the race fair and a clone without rivals whole; no test here needs them installed, and no figure is judged. */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const part = (name: string): Promise<Record<string, (...args: unknown[]) => unknown>> =>
  import(new URL(`../benchmarks/rivals/${name}.mjs`, import.meta.url).href)

it('without the rivals installed, the race says how to install them and fails', async () => {
  const clone = mkdtempSync(join(tmpdir(), 'everytick-clone-'))
  try {
    const withoutPackages = { recursive: true, filter: (path: string) => basename(path) !== 'node_modules' }
    for (const name of ['benchmarks', 'scripts', 'package.json'])
      cpSync(join(ROOT, name), join(clone, name), withoutPackages)
    for (const name of ['dist', 'node_modules']) symlinkSync(join(ROOT, name), join(clone, name), 'junction')
    const ended = await new Promise((resolve) => {
      execFile(process.execPath, [join(clone, 'benchmarks', 'main.mjs'), 'rivals'], (error, stdout, stderr) =>
        resolve({ code: error?.code, stdout, stderr }),
      )
    })
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: 'the rivals are not installed; install them with: npm run bench -- rivals --install\n',
    })
  } finally {
    rmSync(clone, { recursive: true, force: true })
  }
})

it('contenders take turns, and one that fails takes no more and leaves no half of a result', async () => {
  const { race } = await part('race')
  const turns: string[] = []
  const failures: string[] = []
  const seen = await race!({
    entries: [{ name: 'a' }, { name: 'b' }],
    rounds: 2,
    turn: async ({ name }: { name: string }, round: number) => {
      turns.push(`${name}${round}`)
      if (name === 'b' && round === 1) throw new Error('it broke')
      return { rate: round }
    },
    onFailure: ({ name }: { name: string }, error: Error) => failures.push(`${name}: ${error.message}`),
  })
  expect(turns).toEqual(['a0', 'b0', 'a1', 'b1', 'a2'])
  expect(failures).toEqual(['b: it broke'])
  expect(seen).toEqual({ a: { rate: [1, 2] }, b: {} })
})

it('a row is held against the best rival, of which the bare limit is none', async () => {
  const { rowsOf } = await part('rows')
  const rows = rowsOf!('postgres', {
    everytick: { 'drain-1': [40, 60, 50], 'drain-1-cpu-worker': [4, 5, 6] },
    slow: { 'drain-1': [10, 10, 10], 'drain-1-cpu-worker': [10, 10, 10] },
    quick: { 'drain-1': [20, 30, 20], 'drain-1-cpu-worker': [2, 2, 2] },
    limit: { 'drain-1': [90, 90, 90] },
  })
  expect(rows).toMatchObject([
    {
      id: 'postgres-drain-1',
      ours: 50,
      spread: [40, 60],
      best: 'quick',
      rivals: { quick: { value: 20, spread: [20, 30], ratio: 2 }, slow: { ratio: 5 }, limit: { value: 90 } },
      must: { kind: 'ratio', rival: 'quick', value: 2 },
    },
    // Less is better here: a ratio below one says that we are behind.
    { id: 'postgres-drain-1-cpu-worker', best: 'quick', rivals: { quick: { ratio: 0.4 } } },
  ])
})

it('a row that is held against one rival has no must when that one is not in the race', async () => {
  const { rowsOf } = await part('rows')
  const seen = { everytick: { 'backlog-10000-last': [400] }, agenda: { 'backlog-10000-last': [20_000] } }
  expect(rowsOf!('postgres', seen)).toMatchObject([{ best: 'agenda', must: null, aim: 400 }])
  expect(rowsOf!('postgres', { ...seen, bullmq: { 'backlog-10000-last': [3200] } })).toMatchObject([
    { best: 'bullmq', must: { kind: 'ratio', rival: 'bullmq', value: 4 }, rivals: { bullmq: { ratio: 8 } } },
  ])
})
