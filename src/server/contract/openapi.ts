/** The OpenAPI document over HTTP. */
import { z } from 'zod'
import { operation } from '../operation.ts'

export const openApi = operation({
  id: 'openApi',
  method: 'get',
  path: '/openapi.json',
  summary: 'Get this OpenAPI document.',
  resource: 'about',
  scope: 'read',
  reach: 'workspace',
  answers: { 200: { description: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.string() }) } },
})
