/** The command line's benchmark: how long a person waits for the shortest commands, from a cold start to the end of the process, beside Node that starts and does nothing. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { median } from '../harness.mjs'

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const BARE = ['-e', '0']
const COMMANDS = [
  { id: 'help', what: 'everytick --help', args: [PROGRAM, '--help'], most: 120 },
  { id: 'next', what: 'everytick next "* * * * *"', args: [PROGRAM, 'next', '* * * * *'], most: 150 },
]
const FULL = { rounds: 10, warm: 2 }
const QUICK = { rounds: 1, warm: 0 }

export const versions = {
  everytick: JSON.parse(readFileSync(new URL('../../package.json', import.meta.url))).version,
  node: process.versions.node,
}

/** In turns, so that a slow moment of the machine hits all of them alike; the first rounds fill the file cache and are dropped. */
export async function run({ quick, note }) {
  const { rounds, warm } = quick ? QUICK : FULL
  const waits = COMMANDS.map(() => [])
  const bare = []
  for (let round = -warm; round < rounds; round++) {
    note(round < 0 ? 'warming up' : `round ${round + 1} of ${rounds}`)
    const node = await wait(BARE)
    const found = []
    for (const { args } of COMMANDS) found.push(await wait(args))
    if (round < 0) continue
    bare.push(node)
    for (const [i, ms] of found.entries()) waits[i].push(ms)
  }
  const value = median(bare)
  return COMMANDS.map(({ id, what, most }, i) => {
    const ours = median(waits[i])
    const ratio = median(bare.map((node, round) => node / waits[i][round]))
    const spread = [Math.min(...waits[i]), Math.max(...waits[i])]
    const rivals = { 'node -e 0': { value, ratio } }
    return { id, what, unit: 'ms', ours, rivals, must: { kind: 'most', value: most }, spread }
  })
}

/** Milliseconds until the process has ended and all it said was read. */
async function wait(args) {
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  child.stdout.resume()
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`)
  return performance.now() - startedAt
}
