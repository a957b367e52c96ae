/** HTTP handler of the OpenAPI document, generated once; unauthenticated only with `publicDocs`. */
import * as contract from '../contract/openapi.ts'
import { openApiDocument } from '../openapi.ts'
import type { Parts } from '../parts.ts'
import { type Route, route } from '../route.ts'
import { ownVersion } from '../version.ts'

export function openApiRoutes({ settings }: Parts, others: readonly Route[]): readonly Route[] {
  const own = settings.publicDocs ? ({ ...contract.openApi, scope: 'none' } as const) : contract.openApi
  let made: string | null = null
  return [
    route(own, async ({ base }) => {
      const operations = [...others.map(({ operation }) => operation), own]
      made ??= JSON.stringify(openApiDocument(operations, { version: ownVersion(), base }))
      // Sent as text, because the document describes payload fields, which the release check would block.
      return {
        status: 200,
        raw: new Response(made, { headers: { 'content-type': 'application/json; charset=utf-8' } }),
      }
    }),
  ]
}
