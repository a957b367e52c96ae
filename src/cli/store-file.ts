/** Whether the file of a SQLite address is there: opening one makes it, which a mere look must not do. */
import { existsSync } from 'node:fs'
import { readStoreAddress } from '../open-store.ts'
import { UsageError } from './usage-error.ts'

export function isMissingFile(db: string): boolean {
  const address = readStoreAddress(db)
  return address.kind === 'sqlite' && address.path !== ':memory:' && !existsSync(address.path)
}

export function refuseMissingFile(db: string): void {
  const address = readStoreAddress(db)
  if (address.kind === 'sqlite' && isMissingFile(db))
    throw new UsageError(`there is no file ${address.path}`, { exit: 'notFound', hint: 'is the path right?' })
}
