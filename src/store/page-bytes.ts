/** Decides, purely, how many rows of a page fit into so many bytes; one always does, however large it is. */

export function countWithin(sizes: readonly number[], maxBytes: number): number {
  let bytes = 0
  const over = sizes.findIndex((size, i) => {
    bytes += size
    return i > 0 && bytes > maxBytes
  })
  return over === -1 ? sizes.length : over
}
