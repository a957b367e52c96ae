/** Orders items round-robin over their owners, so that an owner with many items does not delay the others. Pure. */
import { grouped } from './grouped.ts'

/** Owners in order of appearance; the items of one owner keep their order. */
export function roundRobin<Owner, Item>(items: Iterable<Item>, ownerOf: (item: Item) => Owner): Item[] {
  const groups = [...grouped(items, ownerOf).values()]
  const most = Math.max(0, ...groups.map(({ length }) => length))
  const ordered: Item[] = []
  for (let turn = 0; turn < most; turn++)
    for (const group of groups) if (turn < group.length) ordered.push(group[turn]!)
  return ordered
}
