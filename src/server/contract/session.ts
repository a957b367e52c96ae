/** Browser sessions over HTTP: sign in, sign out. */
import { z } from 'zod'
import { operation } from '../operation.ts'
import { SCOPES } from '../scope.ts'

const resource = 'session'
const Who = z.object({ name: z.string(), scope: z.enum(SCOPES), workspace: z.string().nullable() })

export const signIn = operation({
  id: 'signIn',
  method: 'post',
  path: '/session',
  summary: 'Sign in a browser with an API key. Sets a cookie that expires with the key, or after 12 hours.',
  resource,
  scope: 'none',
  reach: 'workspace',
  body: z.strictObject({ key: z.string().min(1).max(200) }),
  answers: { 200: { description: 'Who is signed in.', schema: Who, headers: ['Set-Cookie'] } },
  refusals: ['UNAUTHENTICATED', 'CROSS_SITE', 'RATE_LIMITED'],
})

export const whoAmI = operation({
  id: 'whoAmI',
  method: 'get',
  path: '/session',
  summary: 'Get the name, scope and workspace of the caller.',
  resource,
  scope: 'read',
  reach: 'workspace',
  answers: { 200: { description: 'Name, scope and workspace.', schema: Who } },
})

export const signOut = operation({
  id: 'signOut',
  method: 'delete',
  path: '/session',
  summary: 'Sign the browser out.',
  resource,
  scope: 'none',
  reach: 'workspace',
  answers: { 204: { description: 'The browser is signed out.', headers: ['Set-Cookie'] } },
})
