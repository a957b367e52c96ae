/** Holds the REST reference to the table of operations and to the catalogue of problems, both ways. */
import { describe, expect, it } from 'vitest'
import { everytick } from '../../src/index.ts'
import { createServer } from '../../src/server/app.ts'
import { PROBLEM_CODES } from '../../src/server/problem-codes.ts'
import { rowsUnder } from '../markdown.ts'

const PAGE = 'docs/reference/rest.md'

describe('the REST reference', () => {
  it('lists every operation with the scope it needs, and no other', () => {
    const { routes } = createServer(everytick({ store: 'sqlite::memory:', jobs: [] }), { backgroundTasks: false })
    const rows = routes.map(({ operation: { method, path, scope, reach, summary } }) => [
      `${method.toUpperCase()} ${path}`,
      scope === 'none' ? 'anybody' : reach === 'fleet' ? `${scope}, of all workspaces` : scope,
      summary,
    ])
    expect(rowsUnder(PAGE, ['Request', 'Needs', 'What it does'])).toEqual(rows)
  })

  it('lists every problem with its status, and no other', () => {
    const rows = Object.entries(PROBLEM_CODES).map(([code, [status, title]]) => [code, String(status), title])
    expect(rowsUnder(PAGE, ['Code', 'Status', 'Title'])).toEqual(rows)
  })
})
