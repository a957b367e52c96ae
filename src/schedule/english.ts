/** Small words of English that several sentences share. */

/** `a`, `a and b`, `a, b and c`. */
export function joinAnd(parts: readonly string[], word = 'and'): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} ${word} ${parts.at(-1)}`
}

/** `1st`, `2nd`, `3rd`, `11th`. */
export function ordinal(n: number): string {
  const tens = n % 100
  const suffix = tens >= 11 && tens <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')
  return `${n}${suffix}`
}

/** `every minute`, `every 2nd minute`. */
export const everyNth = (n: number, unit: string): string => (n === 1 ? `every ${unit}` : `every ${ordinal(n)} ${unit}`)
