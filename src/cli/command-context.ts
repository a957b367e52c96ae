/** What a command on stored things works with: the backend it was pointed to, and its reader. */
import type { Backend, BackendOptions } from './backend.ts'
import { type Io, withBackend } from './io.ts'
import type { View } from './print.ts'

export interface CommandContext {
  readonly backend: Backend
  readonly io: Io
  readonly view: View
}

/** Writes what the work answers; the backend is closed whatever happens. */
export async function runCommand(
  io: Io,
  options: BackendOptions,
  work: (context: CommandContext) => Promise<string>,
): Promise<void> {
  const view = await io.view()
  await withBackend(options, async (backend) => io.write(await work({ backend, io, view })))
}
