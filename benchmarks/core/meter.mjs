/** What a piece of work costs in CPU and in pages of the database, whichever database it is; what the work is, the caller decides. */

/**
 * Opens a store at a place and meters what is done with it. `spent(work)` answers `{ us, databaseUs, pages }`: CPU of this
 * process and of the server's process behind the store together, CPU of the database alone (in SQLite that is this process),
 * and pages; null for what nobody tells. On Postgres pages are those looked at, on SQLite those written.
 */
export async function openMeter(place) {
  const { store, pages, serverCpuUs, close } = await place.metered()
  const ownCpuUs = () => {
    const { user, system } = process.cpuUsage()
    return user + system
  }
  // What asking costs is nobody's cost; it is known after it was asked a few times.
  let asking = 0
  for (let i = 0; i < 3; i++) {
    const before = await pages()
    const after = await pages()
    asking = after === null ? 0 : after - before
  }
  return {
    store,
    close,
    async spent(work) {
      const pagesBefore = await pages()
      const [own, server] = [ownCpuUs(), serverCpuUs()]
      await work()
      const [ownAfter, serverAfter] = [ownCpuUs(), serverCpuUs()]
      const pagesAfter = await pages()
      const serverUs = server === null ? null : serverAfter - server
      const ownUs = ownAfter - own
      return {
        us: serverUs === null ? null : ownUs + serverUs,
        databaseUs: place.address.kind === 'sqlite' ? ownUs : serverUs,
        pages: pagesBefore === null ? null : Math.max(0, pagesAfter - pagesBefore - asking),
      }
    },
  }
}
