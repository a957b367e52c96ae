/** The sign-in page for browsers, so that the other pages open from a link. */
import { readBytes } from './body.ts'
import { escaped, htmlPage } from './html.ts'
import type { Parts } from './parts.ts'
import { Refusal } from './problem.ts'
import type { SignIn } from './sign-in.ts'

const MAX_FORM = 1000

/** Whether the client is a browser, which should get a page instead of JSON. */
export const wantsPage = (request: Request): boolean => /\btext\/html\b/.test(request.headers.get('accept') ?? '')

/** `page`: the path below `basePath` to open after signing in. */
export function askKey({ settings }: Parts, page: string, problem = ''): Response {
  const said = problem === '' ? '' : `<p role="alert"><b>${escaped(problem)}</b></p>`
  const answer = htmlPage(
    'Everytick: sign in',
    `<h1>Everytick</h1>${said}
<form method="post" action="${escaped(settings.basePath)}/sign-in">
<input type="hidden" name="page" value="${escaped(page)}">
<p><label>API key <input name="key" type="password" autocomplete="current-password" required autofocus></label> <button>Sign in</button></p>
</form>
<p class="soft">The browser stays signed in for 12 hours, or until the key expires. Create a key with: <code>everytick keys create</code></p>`,
    401,
  )
  // With no-referrer the browser would hide the origin of the form, and the CSRF check would reject it.
  answer.headers.set('referrer-policy', 'same-origin')
  return answer
}

/** The allowed redirect targets, to prevent an open redirect. */
const PAGES: ReadonlySet<string> = new Set(['/', '/api/docs'])

interface Sent {
  readonly request: Request
  readonly address: string
}

export async function takeKey(parts: Parts, signIn: SignIn, { request, address }: Sent): Promise<Response> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers.get('content-type') ?? ''))
    throw new Refusal('MEDIA_TYPE', 'the sign-in page accepts only form data', { hint: 'programs use POST /session' })
  const form = new URLSearchParams(new TextDecoder().decode(await readBytes(request, MAX_FORM)))
  const page = PAGES.has(form.get('page') ?? '') ? form.get('page')! : '/'
  try {
    const { cookie } = await signIn.begin(request, (form.get('key') ?? '').trim(), address)
    const location = page === '/' ? parts.settings.basePath || '/' : `${parts.settings.basePath}${page}`
    return new Response(null, { status: 303, headers: { location, 'set-cookie': cookie, 'cache-control': 'no-store' } })
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'UNAUTHENTICATED') throw error
    return askKey(parts, page, error.message)
  }
}
