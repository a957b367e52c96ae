import { describe, expect, it } from 'vitest'
import { RUN_FILTERS, readFilters, SCHEDULE_FILTERS, scheduleFilter, scheduleQuery } from './query-filters.ts'

describe('query words', () => {
  it.each([
    ['nothing', [], {}],
    ['names and free text', ['tag:mail', 'nightly', 'report'], { tag: 'mail', q: 'nightly report' }],
    [
      'a workspace, a job and a source',
      ['workspace:t_42', 'job:x', 'source:code'],
      { workspace: 't_42', job: 'x', source: 'code' },
    ],
    ['paused as the opposite of enabled', ['paused:true'], { enabled: false }],
    ['text that has a colon', ['text:a:b'], { q: 'a:b' }],
    ['an equals sign as a colon', ['tag=mail'], { tag: 'mail' }],
  ])('read %s for a list of schedules', (_, words, query) => {
    expect(scheduleQuery(readFilters(words, SCHEDULE_FILTERS))).toEqual(query)
  })
  it.each([
    ['a name that there is not', ['status:failing'], SCHEDULE_FILTERS, /Unknown filter "status:failing"/],
    ['a name without a value', ['tag:'], SCHEDULE_FILTERS, /tag: has no value/],
    ['the same name twice', ['tag:a', 'tag:b'], SCHEDULE_FILTERS, /tag is given twice/],
    ['free text among runs', ['report'], RUN_FILTERS, /Unknown filter "report"/],
  ])('refuse %s', (_, words, known, message) => {
    expect(() => readFilters(words, known)).toThrow(message)
  })
  it.each([
    ['all', ['all'], { all: true }],
    ['a tag that is not paused', ['tag=mail', 'paused=false'], { tag: 'mail', paused: false }],
    ['text', ['report'], { text: 'report' }],
  ])('choose %s for bulk work', (_, words, filter) => {
    expect(scheduleFilter(words)).toEqual(filter)
  })
  it.each([
    ['health, which bulk work cannot look for', ['health:overdue'], /does not support health/],
    ['paused that is neither true nor false', ['paused:yes'], /true or false/],
  ])('refuse %s', (_, words, message) => {
    expect(() => scheduleFilter(words)).toThrow(message)
  })
})
