/** Runs the built program: commands to their end, and processes that go on, whose log lines are kept; what a situation does with them is `acts.mjs`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'dist', 'cli', 'main.js')
const { DATABASE_URL: _db, EVERYTICK_URL: _url, EVERYTICK_TOKEN: _token, ...around } = process.env
const ENV = { ...around, NO_COLOR: '1', FORCE_COLOR: '0' }

/** Whatever ends the script ends what it started, also what stands still. */
const running = new Set()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Runs one command to its end. */
export async function command(folder, args) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    env: ENV,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (err += text))
  const [code] = await once(child, 'close')
  return { code, out, err }
}

/** A command that must succeed; answers what it printed. */
export async function done(folder, args) {
  const { code, out, err } = await command(folder, args)
  if (code !== 0) throw new Error(`everytick ${args.join(' ')} ended with ${code}: ${err || out}`)
  return out.trim()
}

/** A `serve` or a `worker` that can be ended and started again; `lines` are the log entries of all its lives. */
export function service(name, { folder, args, started }) {
  const lines = []
  let child = null
  let url = null

  const hear = (text) => {
    let entry
    try {
      entry = JSON.parse(text)
    } catch {
      // A line that is no entry is judged too.
      entry = { time: new Date().toISOString(), level: 'unreadable', message: text }
    }
    lines.push({ ...entry, of: name, at: Date.parse(entry.time) })
    return entry
  }

  return {
    name,
    lines,
    /** Where it answers; null while there is no such process. */
    url: () => url,
    pid: () => child?.pid,
    async start() {
      const life = spawn(process.execPath, [PROGRAM, ...args, '--log-format', 'json'], {
        ...{ cwd: folder, env: ENV, stdio: ['ignore', 'pipe', 'pipe'] },
      })
      child = life
      running.add(life)
      const ready = new Promise((resolve, reject) => {
        for (const stream of [life.stdout, life.stderr])
          createInterface({ input: stream }).on('line', (text) => {
            const at = started(hear(text))
            if (at) resolve(at)
          })
        life.once('close', (code, signal) => {
          running.delete(life)
          if (child === life) url = null
          reject(new Error(`${name} ended with ${code ?? signal} before it was ready: ${lines.at(-1)?.message}`))
        })
      })
      url = await ready
    },
    signal: (word) => child.kill(word),
    /** Ends it, and answers with its exit code or the signal that ended it. */
    async end(word) {
      if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? child?.signalCode
      const ending = once(child, 'close')
      child.kill(word)
      const [code, signal] = await ending
      return code ?? signal
    },
  }
}
