/** Answers with the OpenAPI document, made once from the table of all routes; open to everybody only where the server was told so. */
import * as contract from '../contract/openapi.ts'
import { openApiDocument } from '../openapi.ts'
import type { Parts } from '../parts.ts'
import { ok, type Route, route } from '../route.ts'
import { ownVersion } from '../version.ts'

export function openApiRoutes({ settings }: Parts, others: readonly Route[]): readonly Route[] {
  const own = settings.publicDocs ? ({ ...contract.openApi, scope: 'none' } as const) : contract.openApi
  let made: Readonly<Record<string, unknown>> | null = null
  return [
    route(own, async ({ base }) => {
      const operations = [...others.map(({ operation }) => operation), own]
      made ??= openApiDocument(operations, { version: ownVersion(), base })
      return ok(made)
    }),
  ]
}
