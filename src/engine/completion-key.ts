/** Keeps the key that completion tokens are made with: one for all processes, made by whoever needs it first; what a token is decides `run/completion-token.ts`. */
import { randomBytes } from 'node:crypto'
import type { DocumentStore } from '../store/contract/documents.ts'

const ID = 'completion-key'

export type CompletionKey = () => Promise<Uint8Array>

/** Read once: it never changes, or tokens that were given away would be worth nothing. */
export function createCompletionKey(documents: () => DocumentStore | Promise<DocumentStore>): CompletionKey {
  let reading: Promise<Uint8Array> | null = null
  const read = async (): Promise<Uint8Array> => {
    const store = await documents()
    const known = await store.get('secret', ID)
    if (known) return keyOf(known.data)
    const key = randomBytes(32).toString('base64url')
    const put = await store.put({ kind: 'secret', id: ID, workspace: '', state: '', data: { key }, from: 0 })
    // Another process was quicker: its key counts.
    return put ? keyOf(put.data) : read()
  }
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = null
      throw error
    })
    return reading
  }
}

const keyOf = (data: unknown): Uint8Array => Buffer.from((data as { key: string }).key, 'base64url')
