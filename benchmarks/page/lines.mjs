/** Draws how a cost grows: a line for each store, sizes on a logarithmic axis, the cost as so many times that at the smallest size, from zero; which costs is decided elsewhere. */
import { amount, figure, timesText } from '../words.mjs'
import { frame, label, px, WIDTH } from './drawing.mjs'

const HEIGHT = 330
const PLOT = { left: 84, right: WIDTH - 190, top: 62, bottom: HEIGHT - 66 }
const MARKS = ['one', 'two']
const APART = 17

const TIMES = 'times the cost at the smallest size'

/** A line is `{ name, x: [number], y: [number] }`, the first `y` above zero. */
export function lineChart({ title, xLabel, yLabel, lines: measured }) {
  const lines = measured.map((line) => ({ ...line, times: line.y.map((y) => y / line.y[0]) }))
  const [low, high] = edges(lines.flatMap(({ x }) => x))
  const highest = Math.max(...lines.flatMap(({ times }) => times))
  const step = niceStep(highest)
  const most = step * Math.max(1, Math.ceil(highest / step))
  const atX = (x) => PLOT.left + ((Math.log10(x) - low) / (high - low)) * (PLOT.right - PLOT.left)
  const atY = (y) => PLOT.bottom - (y / most) * (PLOT.bottom - PLOT.top)
  const parts = [
    label({ x: 20, y: PLOT.top - 12, kind: 'soft' }, TIMES),
    ...across({ step, most, atY }),
    ...along({ low, high, atX }),
    label({ x: (PLOT.left + PLOT.right) / 2, y: PLOT.bottom + 46, kind: 'mid soft' }, xLabel),
    ...lines.flatMap((line, at) => drawn(line, { at, atX, atY })),
    ...ends(lines, atY),
  ]
  return frame({ title, desc: lines.map((line) => spoken(line, { xLabel, yLabel })).join(' '), height: HEIGHT }, parts)
}

/** Whole powers of ten, so that the marks of the axis stand at its ends. */
function edges(values) {
  const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9)
  return [low, Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9))]
}

/** 1, 2 or 5 times a power of ten, so that there are three to seven marks. */
function niceStep(most) {
  if (!(most > 0)) return 1
  const rough = most / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  return power * ([1, 2, 5].find((times) => times * power >= rough) ?? 10)
}

function across({ step, most, atY }) {
  return Array.from({ length: Math.round(most / step) + 1 }, (_, at) => {
    const y = px(atY(at * step))
    const line = `<line class="axis" x1="${PLOT.left}" x2="${PLOT.right}" y1="${y}" y2="${y}"/>`
    return `${line}${label({ x: PLOT.left - 8, y: atY(at * step) + 4.5, kind: 'end soft' }, figure(at * step))}`
  })
}

function along({ low, high, atX }) {
  return Array.from({ length: high - low + 1 }, (_, at) => {
    const x = atX(10 ** (low + at))
    const mark = `<line class="axis" x1="${px(x)}" x2="${px(x)}" y1="${PLOT.bottom}" y2="${PLOT.bottom + 6}"/>`
    return `${mark}${label({ x, y: PLOT.bottom + 23, kind: 'mid soft' }, (10 ** (low + at)).toLocaleString('en'))}`
  })
}

/** Stores differ by mark and dash too, not by colour alone. */
function drawn({ x, times }, { at, atX, atY }) {
  const mark = MARKS[at % MARKS.length]
  const points = x.map((value, i) => [atX(value), atY(times[i])])
  const path = points.map(([px1, py1]) => `${px(px1)},${px(py1)}`).join(' ')
  return [
    `<polyline class="line ${mark}" points="${path}"/>`,
    ...points.map(([cx, cy]) =>
      mark === 'one'
        ? `<circle class="dot-one" cx="${px(cx)}" cy="${px(cy)}" r="4"/>`
        : `<rect class="dot-two" x="${px(cx - 4)}" y="${px(cy - 4)}" width="8" height="8"/>`,
    ),
  ]
}

/** Each line is named at its end; names that would lie on each other move apart. */
function ends(lines, atY) {
  const wanted = lines.map(({ name, times }, at) => ({ name, at, last: times.at(-1), y: atY(times.at(-1)) }))
  const sorted = wanted.toSorted((a, b) => a.y - b.y || a.at - b.at)
  for (let i = 1; i < sorted.length; i++) sorted[i].y = Math.max(sorted[i].y, sorted[i - 1].y + APART)
  // What was pushed below the axis moves up again, with whatever is above it.
  for (let i = sorted.length - 1, floor = PLOT.bottom; i >= 0; i--, floor -= APART)
    sorted[i].y = Math.min(sorted[i].y, floor)
  return sorted.map(({ name, last, y }) =>
    label({ x: PLOT.right + 14, y: y + 4.5, kind: 'name' }, `${name} ${timesText(last)}`),
  )
}

const spoken = ({ name, x, y }, { xLabel, yLabel }) =>
  `${name}, ${yLabel} by ${xLabel}: ${x.map((value, at) => `${amount(y[at], '')} at ${value.toLocaleString('en')}`).join(', ')}.`
