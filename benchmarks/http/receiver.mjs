/** The receiver of the calls: notes when each arrives, and answers at once. */
import { createServer } from 'node:http'

const arrivals = []

const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now()
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const { run, scheduledAt } = JSON.parse(Buffer.concat(chunks).toString())
    const dueAt = Date.parse(scheduledAt)
    arrivals.push([run, dueAt, at - dueAt])
    response.end('ok')
  })
})

process.on('message', () => process.send(arrivals))
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}/tick` }))
