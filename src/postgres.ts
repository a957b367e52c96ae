/** The door `everytick/postgres`: a store in PostgreSQL, and the SQL of its schema. */
export type { Pool } from './store/postgres/client.ts'
export { migrationSql } from './store/postgres/migrate.ts'
export { openPostgres, type PostgresOptions, type PostgresStore } from './store/postgres/store.ts'
