/** Everytick inside a Fastify app: jobs run in this process, and the REST interface stands under /everytick. */
import { defineJob, everytick, schedule } from 'everytick'
import { toNodeHandler } from 'everytick/server'
import Fastify from 'fastify'

const hello = defineJob({ name: 'hello', run: (ctx) => ctx.log.info('hello') })
const app = everytick({
  store: process.env.DATABASE_URL ?? 'sqlite:./fastify.db',
  jobs: [hello],
  schedules: [schedule({ key: 'nightly-hello', cron: '30 2 * * *', timezone: 'Europe/Berlin', job: hello })],
})
await app.start()

/** Your app decides who asks; without `authorize`, Everytick asks for keys of its own. */
const { ADMIN_TOKEN } = process.env
const authorize = (request) =>
  ADMIN_TOKEN && request.headers.get('authorization') === `Bearer ${ADMIN_TOKEN}` ? 'admin' : 'none'

const handle = toNodeHandler(app.handler({ basePath: '/everytick', authorize }))
const server = Fastify()
server.get('/', () => 'my app')
server.register(
  async (scope) => {
    // Within this prefix, Everytick reads bodies itself: Fastify knows fewer media types, and refuses an empty body.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.all('/', handle)
    scope.all('/*', handle)
  },
  { prefix: '/everytick' },
)

const url = await server.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
console.log(`${url}/everytick/api/v1`)
// The app stops by itself on SIGTERM; connections are the server's.
process.once('SIGTERM', () => {
  server.server.closeAllConnections()
  void server.close()
})
