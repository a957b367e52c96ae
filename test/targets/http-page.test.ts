/** Holds the pages about HTTP targets to the code: what they show runs, and what they say of answers and options is so. */
import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { z } from 'zod'
import * as door from '../../src/index.ts'
import { meaningOf } from '../../src/targets/http/answer.ts'
import { KEYS } from '../../src/targets/http/http-options.ts'
import { STORED_HEADERS } from '../../src/targets/http/stored-result.ts'
import { readText } from '../built-package.ts'
import { blocksOf, rowsUnder, sectionsOf } from '../markdown.ts'

const HOW_TO = 'docs/how-to/call-an-http-endpoint.md'
const REFERENCE = 'docs/reference/targets.md'
const AsyncFunction = (async () => {}).constructor as new (
  ...texts: string[]
) => (...args: unknown[]) => Promise<unknown>
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const quietly = (options: door.EverytickOptions) => door.everytick({ logger: silent, ...options })
const NAMES: Record<string, unknown> = { ...door, everytick: quietly, z, expect, createServer, Webhook }

it('the page about calling an endpoint shows code that runs', async () => {
  const code = blocksOf(readText(HOW_TO), 'ts')
    .join('\n')
    .replace(/^import .*$/gm, '')
  await new AsyncFunction(...Object.keys(NAMES), code)(...Object.values(NAMES))
})

const statusesIn = (text: string): number[] => Array.from(text.matchAll(/\b\d{3}\b/g), ([status]) => Number(status))
const kindOf = (status: number): string => meaningOf({ status, headers: {} }, { now: 0, async: true }).kind

it('the table of answers says what answers mean', () => {
  const rows = rowsUnder(REFERENCE, ['Answer', 'The run', 'Code'])
  const discarded = rows
    .filter(([, meaning = '']) => meaning.startsWith('failed'))
    .flatMap(([answer = '']) => statusesIn(answer))
  const all = Array.from({ length: 600 }, (_, status) => status).filter((status) => status >= 200)
  expect(discarded.toSorted()).toEqual(all.filter((status) => kindOf(status) === 'discarded').toSorted())
  expect(all.filter((status) => kindOf(status) === 'succeeded')).toEqual(all.filter((status) => status < 300))
})

it('the reference lists every option, and the headers that are kept', () => {
  const text = sectionsOf(REFERENCE).find(({ title }) => title === 'HTTP')!.text
  const [options = ''] = text.split('### ')
  const listed = Array.from(options.matchAll(/^\| `(\w+)` \|/gm), ([, option]) => option)
  const ofEveryJob = ['queue', 'priority', 'retry', 'delivery', 'concurrencyKey']
  expect([...listed, ...ofEveryJob].toSorted()).toEqual(KEYS.toSorted())
  for (const header of STORED_HEADERS) expect(text).toContain(`\`${header}\``)
})
