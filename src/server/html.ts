/** HTML pages without scripts: one style, one content security policy, escaping. */
import { createHash } from 'node:crypto'

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d8dee6, #333b46); --soft: light-dark(#5b6672, #9aa7b5); --code: light-dark(#f4f6f9, #1b2027) }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line) }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .4rem .8rem }
summary { cursor: pointer } summary b { display: inline-block; width: 4.2rem; font-family: ui-monospace, monospace }
code, pre { font: 13px/1.45 ui-monospace, monospace; background: var(--code); border-radius: 4px }
code { padding: .1rem .3rem } pre { padding: .7rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere } .soft { color: var(--soft) }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .25rem .6rem .25rem 0; border-top: 1px solid var(--line); vertical-align: top }
button { font: inherit; padding: .4rem 1rem }
`
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

export const escaped = (text: unknown): string =>
  String(text ?? '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

/** `body` is trusted HTML: the caller has escaped its content. */
export function htmlPage(title: string, body: string, status = 200): Response {
  const text = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title><style>${STYLE}</style></head><body>
${body}
</body></html>`
  const policy = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`
  return new Response(text, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    },
  })
}
