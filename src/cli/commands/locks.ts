/** `everytick locks`: lists locks with their holders, and releases one by force. */
import { answer, type JsonOption } from '../answer.ts'
import { type BackendOptions, segment } from '../backend.ts'
import { type ChangeOptions, change } from '../change.ts'
import { type Io, withBackend } from '../io.ts'
import { rowsText } from '../print.ts'
import { UsageError } from '../usage-error.ts'

export interface LockReleaseOptions extends ChangeOptions {
  readonly engine?: boolean
  readonly fence?: string
}

interface Lock {
  readonly name: string
  readonly kind: 'user' | 'engine'
  readonly holder: string
  readonly fence: number
  readonly until: string
}

export function listLocks(options: BackendOptions & JsonOption, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    const { data } = await backend.ask<{ readonly data: readonly Lock[] }>('GET', '/locks')
    await answer(data, { ...options, io }, (locks, view) => {
      const rows = locks.map(({ name, kind, holder, fence, until }) => [name, kind, holder, String(fence), until])
      return rowsText(['NAME', 'KIND', 'HOLDER', 'FENCE', 'UNTIL'], rows, view)
    })
  })
}

export function releaseLock(name: string, { engine, fence, ...options }: LockReleaseOptions, io: Io): Promise<void> {
  const body = {
    ...(engine ? { kind: 'engine' } : {}),
    ...(fence === undefined ? {} : { fence: readFence(fence) }),
  }
  const path = `/locks/${segment(name)}/release`
  const said = ({ holder }: Lock): string => `released lock ${name}, which ${holder} held`
  return withBackend(options, (backend) =>
    change<Lock>(backend, { method: 'POST', path, body, words: `release lock ${name}`, said }, { ...options, io }),
  )
}

function readFence(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageError(`--fence takes a whole number of at least 1, not ${text}`, { code: 'OPTION_INVALID' })
}
