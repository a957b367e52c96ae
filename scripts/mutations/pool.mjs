/** The processes that execute the jobs of a mutation run, as many as there are cores; a process that hangs or crashes is replaced. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const SHARD = fileURLToPath(new URL('shard.mjs', import.meta.url))

/** Executes all jobs; `onResult(job, result)` is called for each as it ends, and may return false to end the run. */
export async function executeJobs(jobs, { shards, provide, signal, onResult }) {
  const waiting = [...jobs]
  const group = async () => {
    let shard = null
    try {
      while (waiting.length > 0 && !signal.aborted) {
        shard ??= await openShard(provide, signal)
        const job = waiting.shift()
        if (!shard || !job) return
        const result = await shard.execute(job)
        if (signal.aborted) return
        if (result.error || result.timedOut) {
          shard.kill()
          shard = null
          // Once more for a crash: it may be the machine's fault, and a crash proves nothing about the tests.
          if (result.error && !job.isRepeated) {
            waiting.push({ ...job, isRepeated: true })
            continue
          }
        }
        if (onResult(job, result) === false) waiting.length = 0
      }
    } finally {
      shard?.kill()
    }
  }
  await Promise.all(Array.from({ length: Math.min(shards, jobs.length) }, group))
}

async function openShard(provide, signal) {
  // A process group of its own: Ctrl-C reaches this process only, which then ends the shard with all its children.
  const child = spawn(process.execPath, [SHARD], { detached: true, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  let words = ''
  child.stderr.on('data', (chunk) => {
    words = (words + chunk).slice(-2000)
  })
  const kill = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {} // It has ended already.
  }
  signal.addEventListener('abort', kill, { once: true })
  const ask = (message, timeoutMs) =>
    new Promise((resolve) => {
      const timer = setTimeout(() => answer({ timedOut: true }), timeoutMs)
      const onMessage = (reply) => answer(reply.error ? reply : (reply.result ?? {}))
      const onClose = (code, by) => answer({ error: `the process ended (${by ?? code})\n${words}` })
      const answer = (reply) => {
        clearTimeout(timer)
        child.off('message', onMessage).off('close', onClose).off('error', onClose)
        resolve(reply)
      }
      child.once('message', onMessage).once('close', onClose).once('error', onClose)
      if (child.connected) child.send(message)
    })
  const started = await ask({ kind: 'start', provide }, 60_000)
  if (started.error || started.timedOut) {
    kill()
    if (signal.aborted) return null
    throw new Error(`a process of the mutation run did not start: ${started.error ?? 'timed out'}`)
  }
  return {
    execute: ({ test, kills, edits, timeoutMs }) => ask({ kind: 'run', test, kills, edits }, timeoutMs),
    kill() {
      signal.removeEventListener('abort', kill)
      kill()
    },
  }
}
