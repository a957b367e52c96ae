/** The input and output of a command: its streams, its terminal settings and its backend. */
import { type Backend, type BackendOptions, openBackend } from './backend.ts'
import { type Surroundings, surroundings } from './config.ts'
import type { View } from './print.ts'
import { screenText } from './screen-text.ts'

export interface Io {
  /** Data, to standard output. */
  write(text: string): void
  /** Data in its own format, such as a crontab: byte for byte, except on a terminal. */
  exact(text: string): void
  /** Messages, to standard error. */
  note(text: string): void
  readonly around: Surroundings
  view(): Promise<View>
}

export const ioOf = (write: (text: string) => void): Io => ({
  write: (text) => write(screenText(text)),
  exact: (text) => write(surroundings().terminal ? screenText(text) : text),
  note: (text) => void process.stderr.write(screenText(text)),
  around: surroundings(),
  async view() {
    const { viewOf } = await import('./print.ts')
    return viewOf(surroundings())
  },
})

/** Opens a backend, runs `work` and always closes the backend. */
export const withBackend = async <T>(options: BackendOptions, work: (backend: Backend) => Promise<T>): Promise<T> =>
  closing(await openBackend(options), work)

export async function closing<T>(backend: Backend, work: (backend: Backend) => Promise<T>): Promise<T> {
  try {
    return await work(backend)
  } finally {
    await backend.close()
  }
}
