/** Starts one Postgres for the whole test run and tells every test file where it is; a run without one fails here, loudly. */
import type { TestProject } from 'vitest/node'
import { startPostgres } from './launcher.ts'
import { createTemplate } from './template.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The address of a server in which a test file makes its own database. */
    postgres: string
    /** The name of a database there with the newest schema and nothing else, to be copied. */
    template: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres()
  const template = await createTemplate(server.url)
  project.provide('postgres', server.url)
  project.provide('template', template.name)
  return async () => {
    await template.drop()
    await server.stop()
  }
}
