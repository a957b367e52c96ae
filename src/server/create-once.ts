/** Makes a thing once where a request is repeated after its server died: it is made under the id that the first server used, or found under it. */
import type { ParsedRequest } from './route.ts'

/** `make` must fail, and write nothing, where there is a thing under the id of the request already. */
export async function createOnce<Thing>(
  { interrupted }: Pick<ParsedRequest, 'interrupted'>,
  make: () => Promise<Thing>,
  find: () => Promise<Thing | null>,
): Promise<Thing> {
  try {
    return await make()
  } catch (error) {
    const found = interrupted ? await find() : null
    if (found !== null) return found
    throw error
  }
}
