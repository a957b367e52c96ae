/** Maps the items of a page and serializes them as JSON in slices of a few milliseconds, yielding to the event loop in between. */
import { systemClock } from '../time/clock.ts'
import { yieldToEventLoop } from '../time/in-steps.ts'

/** The length of a slice before it yields to the event loop. */
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

/** The same text as `JSON.stringify`, but serializes the items of lists one by one. */
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
