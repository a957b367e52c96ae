/** The door `everytick/sqlite`: a store in one file, for one machine. */
export { migrationSql } from './store/sqlite/schema.ts'
export { openSqlite, type SqliteOptions, type SqliteStore } from './store/sqlite/store.ts'
