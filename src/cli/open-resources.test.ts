import { describe, expect, it } from 'vitest'
import { openResourcesText } from './open-resources.ts'

describe('what keeps a process alive', () => {
  it.each([
    [['PipeWrap', 'PipeWrap', 'Timeout'], ['PipeWrap', 'PipeWrap'], '1 timer'],
    [['Timeout', 'TCPSocketWrap', 'Timeout'], [], '2 timers, 1 TCP connection'],
    [['FSEventWrap', 'SomethingNew'], [], '1 file watcher, 1 SomethingNew'],
    [['PipeWrap'], ['PipeWrap', 'TTYWrap'], 'a resource that Node does not name'],
  ])('of %j, with %j at the start, is %s', (names, atStart, text) => {
    expect(openResourcesText(names, atStart)).toBe(text)
  })
})
