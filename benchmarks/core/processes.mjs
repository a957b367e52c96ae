/** Starts processes for a measurement and talks to them; what they do is `node.mjs`. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const NODE = fileURLToPath(new URL('./node.mjs', import.meta.url))

/** Resolves when the process has opened its store. `heard` holds, by name, who is told of what the process says unasked. */
export async function startProcess(options, heard = {}) {
  const child = fork(NODE, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const asked = new Map()
  const exited = new Promise((resolve) => child.once('exit', resolve))
  let asking = 0
  const ready = new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`a process of the benchmark ended with code ${code}`)))
    child.on('message', (message) => {
      if (message.ready) resolve()
      else if (message.told !== undefined) heard[message.told]?.(message.value)
      else asked.get(message.n)(message.answer)
    })
  })
  await ready
  return {
    ask(ask, given) {
      const n = asking++
      return new Promise((resolve, reject) => {
        const gone = (code) =>
          reject(new Error(`a process of the benchmark ended with code ${code} when asked to ${ask}`))
        child.once('exit', gone)
        asked.set(n, (answer) => {
          child.off('exit', gone)
          asked.delete(n)
          resolve(answer)
        })
        child.send({ n, ask, given })
      })
    },
    /** As a crash would. */
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async end() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}

/** How much of one core a process and its server used, in percent, over `ms` of doing nothing else. */
export async function shareOfCore(process, place, ms) {
  const sample = async () => ({
    at: performance.now(),
    own: (await process.ask('usage')).cpuMs,
    server: place.serverCpuMs(),
  })
  const before = await sample()
  await new Promise((resolve) => setTimeout(resolve, ms))
  const after = await sample()
  const share = (name) => ((after[name] - before[name]) / (after.at - before.at)) * 100
  return { own: share('own'), server: before.server === null ? null : share('server') }
}
