/** The context of a command on stored data: its backend and its output. */
import type { Backend, BackendOptions } from './backend.ts'
import { type Io, withBackend } from './io.ts'
import type { View } from './print.ts'

export interface CommandContext {
  readonly backend: Backend
  readonly io: Io
  readonly view: View
}

/** Writes the result of `work`, and always closes the backend. */
export async function runCommand(
  io: Io,
  options: BackendOptions,
  work: (context: CommandContext) => Promise<string>,
): Promise<void> {
  const view = await io.view()
  await withBackend(options, async (backend) => io.write(await work({ backend, io, view })))
}
