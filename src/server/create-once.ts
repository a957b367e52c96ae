/** Creates a resource once, even if a request is repeated after a server crash: under the id that the first server used, or finds it there. */
import type { ParsedRequest } from './route.ts'

/** `make` must fail without writing if a resource with the id of the request exists already. */
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
