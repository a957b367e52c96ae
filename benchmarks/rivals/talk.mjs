/** Starts a contender in a process of its own and asks it things; what it does with them is `contender-process.mjs`. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const PROCESS = fileURLToPath(new URL('./contender-process.mjs', import.meta.url))

/** Longer than anything that is asked takes; a contender that hangs must not hold up the others for ever. */
const WAIT_LIMIT_MS = 120_000
const CLOSING_MS = 5000

/** Resolves when the contender has opened its place. `heard` holds who is told of what the process says unasked. */
export async function startContender({ execPath, module, place }) {
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc']
  const child = fork(PROCESS, [JSON.stringify({ module, place })], { execPath, stdio })
  const asked = new Map()
  const heard = { started: () => {}, startedAt: () => {} }
  const exited = new Promise((resolve) => child.once('exit', resolve))
  let asking = 0
  const fail = (error) => {
    for (const { reject } of asked.values()) reject(error)
    asked.clear()
  }
  const ready = new Promise((resolve, reject) => {
    asked.set('ready', { resolve, reject })
  })
  child.once('exit', (code, signal) => fail(new Error(`its process ended with ${signal ?? `code ${code}`}`)))
  child.on('message', (message) => {
    for (const name of Object.keys(heard)) if (name in message) return heard[name](message[name])
    const { resolve, reject } = asked.get(message.ready ? 'ready' : message.n) ?? {}
    asked.delete(message.ready ? 'ready' : message.n)
    if (message.error === undefined) resolve?.(message.answer)
    else reject?.(new Error(message.error))
  })
  const ask = (what, value, waitLimitMs = WAIT_LIMIT_MS) => {
    const n = asking++
    const answer = new Promise((resolve, reject) => asked.set(n, { resolve, reject }))
    if (child.connected) child.send({ n, ask: what, value })
    else fail(new Error('its process is gone'))
    return within(waitLimitMs, answer, what)
  }
  const end = async () => {
    await ask('close', null, CLOSING_MS).catch(() => {})
    if (child.connected) child.disconnect()
    await within(CLOSING_MS, exited, 'end').catch(() => child.kill('SIGKILL'))
    await exited
  }
  try {
    await within(WAIT_LIMIT_MS, ready, 'open')
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  return { ask, heard, end }
}

/** The answer, or an error when it takes longer. */
export async function within(ms, answer, what) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not ${what} within ${ms / 1000} s`)), ms)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
