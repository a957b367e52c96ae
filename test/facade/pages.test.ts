/** The code on our pages about the app runs as it stands there. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as door from '../../src/index.ts'
import { EVENT_NAMES } from '../../src/scheduler/events.ts'
import { createTestEverytick } from '../../src/testing/test-everytick.ts'
import { readText } from '../built-package.ts'
import { blocksOf, rowsUnder } from '../markdown.ts'

const AsyncFunction = (async () => {}).constructor as new (
  ...texts: string[]
) => (...args: unknown[]) => Promise<unknown>
const NAMES: Record<string, unknown> = { ...door, z, expect, createTestEverytick }

/** All blocks of a page as one program; what it imports is handed in. */
async function run(page: string): Promise<void> {
  const code = blocksOf(readText(page), 'ts')
    .join('\n')
    .replace(/^import .*$/gm, '')
  await new AsyncFunction(...Object.keys(NAMES), code)(...Object.values(NAMES))
}

describe('the pages', () => {
  it.each([
    ...['docs/reference/api.md', 'docs/how-to/testing.md', 'docs/how-to/overlap.md', 'docs/how-to/backfill.md'],
    ...['docs/how-to/limits-and-fairness.md', 'docs/how-to/why-did-it-not-run.md', 'docs/how-to/deploys.md'],
    'docs/how-to/hand-over.md',
  ])('%s shows code that runs', run)

  it('list every event and no other', () => {
    expect(rowsUnder('docs/reference/api.md', ['Event', 'With']).map(([name]) => name)).toEqual(EVENT_NAMES)
  })
})
