/** Holds the page about the index to the code: its statements are ours, and what it says of defaults and bad rows is so. */
import { describe, expect, it } from 'vitest'
import { defineScheduleCollection, fromPgPool, NEVER_AT, scheduleIndexDdl } from '../../src/schedule-index.ts'
import { readText } from '../built-package.ts'
import { blocksOf } from '../markdown.ts'

const page = readText('docs/how-to/schedule-index.md')

describe('the page about the schedule index', () => {
  it('shows the statements that make the table', () => {
    const dialects = ['postgres', 'sqlite'] as const
    expect(blocksOf(page, 'sql')).toEqual(dialects.map((dialect) => `-- ${dialect}\n${scheduleIndexDdl(dialect)}`))
    expect(() => scheduleIndexDdl('mysql' as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
  })

  it('says where bad rows are', () => {
    expect(page).toContain(`next_fire_at = ${NEVER_AT}`)
  })

  it('uses only names that the door has', async () => {
    const door = await import('../../src/schedule-index.ts')
    const named = blocksOf(page, 'ts').flatMap((block) =>
      Array.from(block.matchAll(/import \{([^}]+)\} from 'everytick\/schedule-index'/g), ([, names]) =>
        names!.split(','),
      ),
    )
    const names = named.flat().map((name) => name.trim())
    expect(names).toContain(defineScheduleCollection.name)
    expect(names).toContain(fromPgPool.name)
    expect(names.filter((name) => !(name in door))).toEqual([])
  })
})
