import { describe, expect, it } from 'vitest'
import type { Fact } from '../observe/fact.ts'
import { eventHub } from './events.ts'

const planned: Fact = { kind: 'schedule.planned', runs: 1, stale: 0 }
const silent = { debug() {}, info() {}, warn() {}, error() {} }

describe('those who count facts', () => {
  it('hear every fact, also what no event is made of, until they leave', () => {
    const hub = eventHub(silent)
    const heard: Fact[] = []
    const leave = hub.onFact((fact) => heard.push(fact))
    hub.tell(planned)
    leave()
    hub.tell(planned)
    expect(heard).toEqual([planned])
  })

  it('cannot hurt the engine, nor those who count beside them', () => {
    const lines: string[] = []
    const hub = eventHub({ ...silent, error: (message) => lines.push(message) })
    let heard = 0
    hub.onFact(() => {
      throw new Error('miscounted')
    })
    hub.onFact(() => heard++)
    hub.tell(planned)
    expect(heard).toBe(1)
    expect(lines).toEqual(['what counts "schedule.planned" threw'])
  })
})
