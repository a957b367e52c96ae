/** Starts a node in a process of its own, and kills it. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { NodeOrder } from './node.ts'

export interface Child extends AsyncDisposable {
  readonly url: string
  /** With SIGKILL: nothing is said and nothing is put in order. */
  kill(): Promise<void>
}

export async function startChild(order: NodeOrder): Promise<Child> {
  const child = fork(fileURLToPath(new URL('./node.mjs', import.meta.url)), [JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let words = ''
  child.stderr!.on('data', (chunk) => (words += chunk))
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const { url } = await new Promise<{ url: string }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { url: string }))
    child.once('exit', (code) => reject(new Error(`a node ended with ${code} before it was ready: ${words}`)))
  })
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await gone
  }
  return { url, kill, [Symbol.asyncDispose]: kill }
}
