/** Loads a package that only some users need when it is first needed, and says which one to install when it is not there. */
import { EverytickError } from '../errors.ts'

export interface Peer<Module> {
  /** As it is installed. */
  readonly name: string
  /** Who needs it, as it is written in code. */
  readonly for: string
  readonly load: () => Promise<Module>
}

export async function loadPeer<Module>({ name, for: whom, load }: Peer<Module>): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    const missing = missingPackage(cause)
    if (missing === null) throw cause
    throw new EverytickError('PACKAGE_MISSING', `${whom} needs the package ${missing}, which is not installed`, {
      hint: missing === name ? `npm install ${name}` : `npm install ${name} ${missing}`,
      cause,
    })
  }
}

/** The package itself, or one that it needs in turn; null when something else is wrong. */
function missingPackage(error: unknown): string | null {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') return null
  return /Cannot find (?:package|module) '((?:@[\w.-]+\/)?[\w.-]+)'/.exec(String(message))?.[1] ?? null
}
