/** Measures how long turns of the event loop hold this thread, in CPU time, so that other processes on the machine do not count. */
import { readFileSync } from 'node:fs'

/** CPU time that this thread has used. */
function cpuMs(): number {
  // Brings the figures of the thread that asks up to date, which are otherwise as old as the last tick of the kernel.
  const { user, system } = process.cpuUsage()
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6
  } catch {
    return (user + system) / 1000
  }
}

/** The longest turn while `work` is in flight. */
export async function longestBlock(work: () => Promise<void>): Promise<number> {
  let longest = 0
  let last = cpuMs()
  let isOver = false
  const look = (): void => {
    const now = cpuMs()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  try {
    await work()
  } finally {
    isOver = true
  }
  look()
  return longest
}
