/** Draws contenders beside each other as bars, a panel for each question, every panel from zero; which questions is decided elsewhere. */
import { amount } from '../words.mjs'
import { frame, label, px, WIDTH } from './drawing.mjs'

const TOP = 44
const HEAD = 30
const BAR = 18
const STEP = 25
const GAP = 14
const FROM = 150
/** Room on the right for the figure of the longest bar. */
const LONGEST = WIDTH - FROM - 180
/** Where less is better, one who needs a hundred times as much would leave the others no room to differ. */
const CUT = 12

/**
 * A panel is `{ what, unit, better, note, bars: [{ name, kind: 'ours' | 'rival' | 'limit', parts: [number] }] }`; the parts
 * of a bar lie end to end and `note` says what they are.
 */
export function barChart({ title, panels }) {
  let y = TOP
  const parts = []
  for (const panel of panels) {
    parts.push(...panelParts(panel, y))
    y += HEAD + panel.bars.length * STEP + GAP
  }
  return frame({ title, desc: panels.map(spoken).join(' '), height: y }, parts)
}

function panelParts({ what, unit, better, note, bars }, top) {
  const most = mostShown(bars, better)
  const scale = most > 0 ? LONGEST / most : 0
  const lines = bars.flatMap((bar, at) => {
    const y = top + HEAD + at * STEP
    const middle = y + BAR / 2 + 4.5
    const end = FROM + Math.min(whole(bar), most) * scale
    return [
      label({ x: FROM - 8, y: middle, kind: bar.kind === 'ours' ? 'end name' : 'end' }, nameOf(bar)),
      ...rects(bar, { y, scale, most }),
      ...(whole(bar) > most ? [gap(end - 22, y)] : []),
      label({ x: end + 7, y: middle, kind: bar.kind === 'ours' ? 'name' : '' }, figureOf(bar, unit)),
    ]
  })
  const cut = bars.some((bar) => whole(bar) > most) ? ['bars with a gap are longer than shown'] : []
  const notes = [...(note === undefined ? [] : [note]), ...cut]
  const head = notes.length === 0 ? what : `${what} (${notes.join('; ')})`
  const bottom = top + HEAD + bars.length * STEP - (STEP - BAR) + 3
  return [
    label({ x: 20, y: top + 18, kind: 'head' }, head),
    `<line class="axis" x1="${FROM}" x2="${FROM}" y1="${px(top + HEAD - 3)}" y2="${px(bottom)}"/>`,
    ...lines,
  ]
}

/** The longest bar that is drawn whole. */
function mostShown(bars, better) {
  const values = bars.filter(({ kind }) => kind !== 'limit').map(whole)
  const bound = better === 'less' ? Math.min(...values) * CUT || Number.POSITIVE_INFINITY : Number.POSITIVE_INFINITY
  return Math.max(...bars.map(whole).filter((value) => value <= bound))
}

const gap = (x, y) => `<path class="ground" d="M${px(x + 6)} ${px(y - 1)}h6l-6 ${BAR + 2}h-6z"/>`

/** A bar that is cut keeps the shares of its parts. */
function rects(bar, { y, scale, most }) {
  const { kind, parts } = bar
  const shown = whole(bar) > most ? (scale * most) / whole(bar) : scale
  let x = FROM
  return parts.map((value, at) => {
    const width = Math.max(value * shown, 1)
    const shade = at === 0 || kind === 'limit' ? kind : `${kind}-more`
    const rect = `<rect class="${shade}" x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${BAR}"/>`
    x += value * shown
    return rect
  })
}

const whole = ({ parts }) => parts.reduce((sum, part) => sum + part, 0)
const nameOf = ({ name, kind }) => (kind === 'limit' ? 'bare SQL' : name)

function figureOf(bar, unit) {
  if (bar.parts.length === 1) return amount(whole(bar), unit)
  return `${amount(whole(bar), unit)} (${bar.parts.map((part) => amount(part, '')).join(' + ')})`
}

const spoken = ({ what, unit, bars }) =>
  `${what}: ${bars.map((bar) => `${nameOf(bar)} ${figureOf(bar, unit)}`).join(', ')}.`
