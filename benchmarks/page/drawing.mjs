/** The pieces every chart is made of: frame, colours for light and dark, texts and numbers; what is drawn is decided by the charts. */

export const WIDTH = 760

/** The ground is drawn too: a page may be dark where the reader's system is light. */
const STYLE = `
    svg { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
    .ground { fill: #ffffff; } text { fill: #1f2328; } .soft { fill: #59636e; } .head { font-weight: 600; }
    .title { font-size: 16px; font-weight: 600; } .axis { stroke: #d1d9e0; } .end { text-anchor: end; } .mid { text-anchor: middle; }
    .ours { fill: #0969da; } .ours-more { fill: #80b4ee; } .rival { fill: #818b98; } .rival-more { fill: #c4cad1; }
    .limit { fill: none; stroke: #818b98; stroke-dasharray: 4 3; } .name { font-weight: 600; }
    .line { fill: none; stroke-width: 2; } .one { stroke: #0969da; } .two { stroke: #bc4c00; stroke-dasharray: 7 4; }
    .dot-one { fill: #0969da; } .dot-two { fill: #bc4c00; }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0d1117; } text { fill: #f0f6fc; } .soft { fill: #9198a1; } .axis { stroke: #3d444d; }
      .ours { fill: #4493f8; } .ours-more { fill: #1f4f8f; } .rival { fill: #8b949e; } .rival-more { fill: #484f58; }
      .limit { stroke: #9198a1; } .one { stroke: #4493f8; } .two { stroke: #f0883e; } .dot-one { fill: #4493f8; } .dot-two { fill: #f0883e; }
    }`

const MARKS = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
export const escaped = (text) => text.replace(/[&<>"']/g, (mark) => MARKS[mark])

/** A tenth of a pixel is fine enough, and reads the same on every machine. */
export const px = (value) => String(Math.round(value * 10) / 10)

export const label = ({ x, y, kind = '' }, text) =>
  `<text x="${px(x)}" y="${px(y)}"${kind === '' ? '' : ` class="${kind}"`}>${escaped(text)}</text>`

/** Whoever cannot see the drawing gets its title and, in `desc`, every figure of it. */
export const frame = ({ title, desc, height }, parts) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${px(height)}" width="${WIDTH}" height="${px(height)}" role="img" aria-labelledby="title desc">
  <title id="title">${escaped(title)}</title>
  <desc id="desc">${escaped(desc)}</desc>
  <style>${STYLE}
  </style>
  <rect class="ground" width="100%" height="100%" rx="6"/>
  ${[label({ x: 20, y: 30, kind: 'title' }, title), ...parts].join('\n  ')}
</svg>
`
