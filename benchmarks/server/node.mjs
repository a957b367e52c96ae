/** The server of a measurement, as a process of its own: listens on this machine, says where and what it has used, and ends with its parent. */
import { everytick } from 'everytick'
import { serve } from 'everytick/server'
import { openAt } from '../core/address.mjs'
import { JOBS } from './fleet.mjs'

const store = await openAt(JSON.parse(process.argv[2]))
const app = everytick({ store, jobs: JOBS })
// One client asks as fast as it is answered.
const rate = { burst: 1_000_000, perSecond: 1_000_000 }
const listening = await serve(app, { port: 0, access: 'open', rate })

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ cpuMs: (user + system) / 1000 })
})
process.on('disconnect', async () => {
  // First, so that its background tasks have ended before their store is gone.
  await listening.close()
  await app.stop()
  await store.close()
})
process.send({ url: listening.url })
