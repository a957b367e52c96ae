/** Opens a store by an address that can be sent to another process. */

export async function openAt({ kind, where }) {
  if (kind === 'sqlite') {
    const { openSqlite } = await import('everytick/sqlite')
    return openSqlite({ path: where })
  }
  const { openPostgres } = await import('everytick/postgres')
  return openPostgres({ url: where })
}
