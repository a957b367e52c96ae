/** A stable 32-bit hash of text, the same on every node and version; who spreads what by it is decided by the caller. */

/** FNV-1a over UTF-16 units, then a finaliser, so that short seeds with a common prefix still spread evenly. */
export function stableHash(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
