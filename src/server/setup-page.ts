/** The page behind the one-time setup link, which creates the first key. */
import { readBytes } from './body.ts'
import { escaped, htmlPage } from './html.ts'
import type { Parts } from './parts.ts'

const MAX_FORM = 1000

/** Asks for confirmation first, because a link preview, for example in a chat program, must not use up the link. */
export function askSetup(request: Request): Response {
  const invite = new URL(request.url).searchParams.get('invite') ?? ''
  const form = `<form method="post"><input type="hidden" name="invite" value="${escaped(invite)}"><button>Create the first key</button></form>`
  return htmlPage(
    'Everytick: first key',
    `<h1>Everytick</h1><p>This link creates the first API key. It works once.</p>${form}`,
  )
}

export async function doSetup({ core, keys, sessions }: Parts, request: Request, api: string): Promise<Response> {
  const text = new TextDecoder().decode(await readBytes(request, MAX_FORM))
  const invite = new URLSearchParams(text).get('invite') ?? ''
  // A second setup link that was printed in the meantime must not create another first key.
  if (invite === '' || (await keys.any()) || !(await sessions.accept(invite)))
    return htmlPage(
      'Everytick',
      '<h1>Everytick</h1><p>This link was used already or has expired. Start the server with --setup again.</p>',
      403,
    )
  const { key, token } = await keys.create({ name: 'first', scope: 'admin', workspace: null, by: 'setup', forMs: null })
  const { name, scope, prefix } = key
  await (await core.store()).auditLog.append({
    ...{ workspace: '', actor: 'setup', action: 'key.first', target: `key ${name}`, before: null },
    ...{ after: { name, scope, prefix }, origin: { link: true } },
  })
  const use = `curl -H 'authorization: Bearer ${token}' ${new URL(request.url).origin}${api}/overview`
  return htmlPage(
    'Everytick: first key',
    `<h1>Everytick</h1><p>The first key, with scope admin. It is not shown again.</p><pre>${escaped(token)}</pre><p>Try it:</p><pre>${escaped(use)}</pre>`,
  )
}
