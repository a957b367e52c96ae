/** Puts a real `serve` and `worker` through ten situations and holds alerts, doctor, metrics and logs to one table. `npm run situations -- --store sqlite --only "worker killed"` */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ACTS } from './situations/acts.mjs'
import { whyNoDisk } from './situations/databases.mjs'
import { differences } from './situations/judge.mjs'
import { pageText } from './situations/page.mjs'
import { openPair } from './situations/pair.mjs'
import { SITUATIONS } from './situations/table.mjs'

const STORES = ['postgres', 'sqlite']
const AT_ONCE = 3
const PAGE = fileURLToPath(new URL('../docs/operate/situations.md', import.meta.url))

/** Puts one pair through one situation; answers its differences, or why it was left out. */
export async function runSituation(row, store) {
  const skipped = row.needsDisk ? whyNoDisk() : null
  if (skipped) return { name: row.name, store, skipped, differences: [] }
  const began = Date.now()
  let pair = null
  let found
  let seen = null
  try {
    pair = await openPair(store, { rules: row.rules, disk: row.needsDisk, failsAtOnce: row.failsAtOnce })
    await pair.start()
    await ACTS[row.name](pair, row)
    seen = await pair.observe()
    found = differences(row, seen, store)
  } catch (error) {
    found = [`it could not be played: ${error.stack ?? error}`]
  } finally {
    await pair?.close()
  }
  return { name: row.name, store, differences: found, seconds: Math.round((Date.now() - began) / 1000), seen }
}

async function main() {
  const { values } = parseArgs({
    options: {
      store: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'boolean', default: false },
      page: { type: 'boolean', default: false },
      trace: { type: 'string' },
    },
  })
  if (values.page) return writePage()
  const stores = values.store === undefined ? STORES : [values.store]
  const names = values.only?.split(',') ?? SITUATIONS.map(({ name }) => name)
  const unknown = [
    ...stores.filter((each) => !STORES.includes(each)),
    ...names.filter((name) => !SITUATIONS.some((row) => row.name === name)),
  ]
  if (unknown.length > 0) {
    console.error(`unknown: ${unknown.join(', ')}`)
    console.error('usage: npm run situations -- [--store postgres|sqlite] [--only name,...] [--json] [--page]')
    console.error(`names: ${SITUATIONS.map(({ name }) => name).join(', ')}`)
    return 2
  }
  const waiting = SITUATIONS.filter(({ name }) => names.includes(name))
    .flatMap((row) => stores.map((store) => ({ row, store })))
    .toSorted((one, other) => (other.row.lastsMs ?? 90_000) - (one.row.lastsMs ?? 90_000))
  // By an exit, so that processes and disks of ours do not outlive the script.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  const results = []
  const group = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { seen, ...result } = await runSituation(next.row, next.store)
      results.push(result)
      if (values.trace) writeFileSync(`${values.trace}/${result.store} ${result.name}.json`, traceText(seen))
      if (!values.json) console.log(rowText(result))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, group))
  console.log(values.json ? JSON.stringify(results, null, 2) : closingText(results))
  return results.some((each) => each.differences.length > 0) ? 1 : 0
}

function rowText({ name, store, skipped, differences: found, seconds }) {
  const head = `${store.padEnd(8)}  ${name.padEnd(27)}`
  if (skipped) return `–  ${head}  left out: ${skipped}`
  if (found.length === 0) return `✓  ${head}  ${seconds} s`
  return [`✗  ${head}  ${seconds} s`, ...found.map((each) => `     ${each}`)].join('\n')
}

export function closingText(results) {
  const leftOut = results.filter(({ skipped }) => skipped).length
  const played = results.length - leftOut
  const wrong = results.filter(({ differences: found }) => found.length > 0).length
  const said =
    wrong > 0
      ? `${wrong} of ${played} situations differ from the table`
      : `${played} situations: no alert missing, none false`
  return leftOut > 0 ? `${said} (${leftOut} left out)` : said
}

const traceText = (seen) =>
  JSON.stringify(seen, (_, value) => (value instanceof Map ? Object.fromEntries(value) : value), 1) ?? 'null'

function writePage() {
  writeFileSync(PAGE, pageText(SITUATIONS))
  return 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main()
