/** What a simulation looks like as a line of characters. */
import { describe, expect, it } from 'vitest'
import { drawTimeline, type Entry } from './simulated-timeline.ts'

const MINUTE = 60_000
const at = (minute: number): string => new Date(minute * MINUTE).toISOString()
const entry = (minute: number, outcome: string, [start, end]: readonly (number | null)[] = [null, null]): Entry => ({
  ...{ scheduledAt: at(minute), dueAt: at(minute), outcome, reason: null, attempts: 1 },
  startedAt: typeof start === 'number' ? at(start) : null,
  finishedAt: typeof end === 'number' ? at(end) : null,
})
const stretch = { fromAt: 0, toAt: 10 * MINUTE, columns: 10, outages: [] }

describe('the concurrency group of a simulation', () => {
  it('has a mark at each occurrence, and work for as long as it took', () => {
    const timeline = drawTimeline([entry(1, 'ran', [1, 3]), entry(5, 'skipped'), entry(8, 'missed')], stretch)
    expect(timeline).toEqual({ slots: ' ▮   ▯  · ', work: ' ██       ' })
  })

  it('shows the worst of those that share a character', () => {
    const crowd = ['ran', 'failed', 'skipped'].map((outcome) => entry(2, outcome))
    expect(drawTimeline(crowd, { ...stretch, columns: 2 }).slots).toBe('✗ ')
  })

  it('shows work that took no time, and work that goes on beyond the end', () => {
    expect(drawTimeline([entry(4, 'ran', [4, 4])], stretch).work).toBe('    █     ')
    expect(drawTimeline([entry(8, 'running', [8, null])], stretch).work).toBe('        ██')
  })

  it('shows when nobody was there, and nothing of an outage elsewhere', () => {
    const outages = [
      { fromAt: 2 * MINUTE, toAt: 4 * MINUTE },
      { fromAt: 50 * MINUTE, toAt: 60 * MINUTE },
    ]
    expect(drawTimeline([], { ...stretch, outages }).work).toBe('  ░░      ')
  })

  it('keeps an occurrence at the very end within the line', () => {
    expect(drawTimeline([entry(10, 'waiting')], stretch).slots).toBe('         …')
  })
})
