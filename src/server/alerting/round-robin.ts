/** Decides, purely, in which order things of several owners come when each owner has one turn after the other, so that one with many does not keep the others waiting. */
import { grouped } from './grouped.ts'

/** Owners in the order in which they appear; the things of one owner stay in their order. */
export function roundRobin<Owner, Item>(items: Iterable<Item>, ownerOf: (item: Item) => Owner): Item[] {
  const groups = [...grouped(items, ownerOf).values()]
  const most = Math.max(0, ...groups.map(({ length }) => length))
  const ordered: Item[] = []
  for (let turn = 0; turn < most; turn++)
    for (const group of groups) if (turn < group.length) ordered.push(group[turn]!)
  return ordered
}
