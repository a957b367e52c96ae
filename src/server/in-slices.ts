/** Works through the items of a page, and writes them as JSON, a few milliseconds at a time, so that the event loop has its turn in between; what is done to an item is the caller's matter. */
import { systemClock } from '../time/clock.ts'
import { yieldToEventLoop } from '../time/in-steps.ts'

/** After so long the next item waits for the event loop. */
const SLICE_MS = 4

export async function mapInSlices<Item, Made>(
  items: readonly Item[],
  make: (item: Item, at: number) => Made,
): Promise<Made[]> {
  const made: Made[] = []
  let since = systemClock.elapsed()
  for (const [at, item] of items.entries()) {
    if (systemClock.elapsed() - since > SLICE_MS) {
      await yieldToEventLoop()
      since = systemClock.elapsed()
    }
    made.push(make(item, at))
  }
  return made
}

/** The same text as `JSON.stringify`: the items of lists in the body are written one by one. */
export async function stringifyInSlices(body: unknown): Promise<string> {
  if (!hasLists(body)) return JSON.stringify(body)
  const fields: string[] = []
  for (const [name, value] of Object.entries(body)) {
    const text = Array.isArray(value) ? await listInSlices(value) : JSON.stringify(value)
    if (text !== undefined) fields.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${fields.join(',')}}`
}

const listInSlices = async (items: readonly unknown[]): Promise<string> =>
  `[${(await mapInSlices(items, (item) => JSON.stringify(item) ?? 'null')).join(',')}]`

const hasLists = (body: unknown): body is object =>
  typeof body === 'object' && body !== null && !('toJSON' in body) && Object.values(body).some(Array.isArray)
