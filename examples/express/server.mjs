/** Everytick inside an Express app: jobs run in this process, and the REST interface stands under /everytick, behind the app's own body parser. */
import { defineJob, everytick, schedule } from 'everytick'
import { toNodeHandler } from 'everytick/server'
import express from 'express'

const hello = defineJob({ name: 'hello', run: (ctx) => ctx.log.info('hello') })
const app = everytick({
  store: process.env.DATABASE_URL ?? 'sqlite:./express.db',
  jobs: [hello],
  schedules: [schedule({ key: 'nightly-hello', cron: '30 2 * * *', timezone: 'Europe/Berlin', job: hello })],
})
await app.start()

/** Your app decides who asks; without `authorize`, Everytick asks for keys of its own. */
const { ADMIN_TOKEN } = process.env
const authorize = (request) =>
  ADMIN_TOKEN && request.headers.get('authorization') === `Bearer ${ADMIN_TOKEN}` ? 'admin' : 'none'

const server = express()
server.use(express.json())
server.get('/', (_request, response) => response.send('my app'))
server.use('/everytick', toNodeHandler(app.handler({ basePath: '/everytick', authorize })))

const listening = server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${listening.address().port}/everytick/api/v1`)
})
// The app stops by itself on SIGTERM; connections are the server's.
process.once('SIGTERM', () => {
  listening.close()
  listening.closeAllConnections()
})
