/** Every operation has a row in operation-rules.ts that agrees with its contract, and no row is left of one that is gone. */
import { describe, expect, it } from 'vitest'
import { OPERATION_RULES, ruleOf } from '../../src/server/operation-rules.ts'
import { openStage } from './stage.ts'

describe('the rules of operations', () => {
  it('have one row for each operation, with its scope and reach', async () => {
    await using stage = await openStage('sqlite')
    const operations = stage.server.routes.map(({ operation: { id, scope, reach } }) => ({ id, scope, reach }))
    const rows = Object.entries(OPERATION_RULES).map(([id, { scope, reach }]) => ({ id, scope, reach }))
    const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1)
    expect(rows.sort(byId)).toEqual(operations.sort(byId))
  })

  it('are asked for when a server is made, so that an operation without a row does not start', () => {
    expect(() => ruleOf({ id: 'unheardOf' })).toThrow('operation unheardOf has no row in operation-rules.ts')
  })
})
