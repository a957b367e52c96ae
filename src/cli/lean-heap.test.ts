import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const LEAN = fileURLToPath(new URL('./lean-heap.ts', import.meta.url))

/** The largest heap, in MB, of a process in which 50 MB live and 1000 texts of 1 MB come and go. */
function largestHeap(before: string): number {
  const program = `
    ${before}
    const kept = Array.from({ length: 500_000 }, (_, i) => ({ i, text: 'kept ' + i }))
    let most = 0
    for (let i = 0; i < 1000; i++) {
      const text = JSON.stringify({ i, text: 'x'.repeat(1_000_000) })
      if (JSON.parse(text).i !== i) throw new Error()
      most = Math.max(most, process.memoryUsage().heapTotal)
    }
    if (kept.length > 0) console.log(Math.round(most / 1_000_000))`
  // As on a machine with much memory, whatever this one has.
  const args = ['--import', 'tsx', '--max-old-space-size=4096', '--input-type=module', '-e', program]
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

it('a lean heap holds little that nobody needs any more', () => {
  const [usual, lean] = [largestHeap(''), largestHeap(`(await import(${JSON.stringify(LEAN)})).keepHeapLean()`)]
  expect(lean).toBeLessThan(0.8 * usual)
}, 240_000)
