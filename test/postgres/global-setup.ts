/** Starts one Postgres for the whole test run and tells every test file where it is; a run without one fails here, loudly. */
import type { TestProject } from 'vitest/node'
import { startPostgres } from './launcher.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The address of a server in which a test file makes its own database. */
    postgres: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres()
  project.provide('postgres', server.url)
  return () => server.stop()
}
