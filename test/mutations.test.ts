/** Holds `npm run mutations` to its word, on a small list of its own: survivors fail it, an interruption ends it, and no source file changes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readText, root } from './built-package.ts'

const FILE = 'src/run/retry.ts'
const caught = { file: FILE, in: 'retryDelayMs', find: 'attempt - 1', replace: 'attempt' }
const equivalent = { file: FILE, in: 'retryDelayMs', find: 'attempt - 1', replace: 'attempt - 1 + 0' }
const gone = { file: FILE, in: 'retryDelayMs', find: 'no such words', replace: '' }
const nonsense = { file: FILE, in: 'retryDelayMs', find: 'attempt - 1', replace: 'attempt -' }

const folder = mkdtempSync(join(tmpdir(), 'everytick-mutants-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function start(mutants: Record<string, object>, ...options: string[]): ChildProcess {
  const list = join(folder, 'pure.mjs')
  const mutations = Object.entries(mutants).map(([kills, mutant]) => ({ kills, ...mutant }))
  writeFileSync(list, `export const MUTATIONS = ${JSON.stringify(mutations)}\n`)
  const args = [join('scripts', 'mutations.mjs'), '--list', list, ...options]
  // The runner of these tests must not be taken for that of the mutants.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS)/.test(name)))
  return spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
}

async function ended(child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> {
  let [out, err] = ['', '']
  child.stdout!.on('data', (chunk) => (out += chunk))
  child.stderr!.on('data', (chunk) => (err += chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out, err }
}

/** Its child processes by id; none where the system does not list them in files. */
function childrenOf({ pid }: ChildProcess): number[] {
  const list = `/proc/${pid}/task/${pid}/children`
  return existsSync(list) ? (readFileSync(list, 'utf8').match(/\d+/g) ?? []).map(Number) : []
}

describe('a mutation run', () => {
  it('fails with every mutant that no test catches, says why, and leaves the sources as they are', async () => {
    const before = readText(FILE)
    const { code, out } = await ended(start({ caught, equivalent, gone, nonsense }, '--json'))
    const { mutants } = JSON.parse(out) as { mutants: { name: string; verdict: string }[] }
    const verdicts = Object.fromEntries(mutants.map(({ name, verdict }) => [name.match(/\w+: (\w+)/)?.[1], verdict]))
    expect(verdicts).toEqual({ caught: 'caught', equivalent: 'SURVIVED', gone: 'GONE', nonsense: 'NONSENSE' })
    expect(code).toBe(1)
    expect(readText(FILE)).toBe(before)
  })

  it('passes when every mutant is caught, and prints the sample with its seed', async () => {
    const { code, out } = await ended(start({ caught, gone }, '--sample', '1', '--seed', 'b', '--only', 'caught'))
    expect(out).toContain('1 of 1 mutants, chosen by the seed b:\n  pure: caught (retry.ts, retryDelayMs)\n')
    expect(out).toContain('1 of 1 mutants caught')
    expect(code).toBe(0)
  })

  it('ends with all its processes when it is interrupted', async () => {
    const child = start(Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`number ${n}`, caught])))
    const end = ended(child)
    await new Promise<void>((resolve) => child.stdout!.on('data', (line) => /\/200 /.test(String(line)) && resolve()))
    const shards = childrenOf(child)
    if (existsSync('/proc/self/status')) expect(shards.length).toBeGreaterThan(0)
    child.kill('SIGINT')
    const { code, out } = await end
    expect(out).toMatch(/interrupted: \d+ mutants were not tried/)
    expect(code).toBe(130)
    for (const pid of shards) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })
})
