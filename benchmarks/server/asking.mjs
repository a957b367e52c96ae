/** One client that asks a server over a socket, one question after another, and says how long the answers took; what is asked is `questions.mjs`. */
import { Agent, get } from 'node:http'

/** The connection stays open, as a browser's does. */
export function createClient(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (path) =>
    new Promise((resolve, reject) => {
      const startedAt = performance.now()
      const request = get(`${url}/api/v1${path}`, { agent }, (response) => {
        const pieces = []
        response.on('data', (piece) => pieces.push(piece))
        response.on('error', reject)
        response.on('end', () => {
          const ms = performance.now() - startedAt
          const text = Buffer.concat(pieces).toString()
          if (response.statusCode === 200) resolve({ ms, body: JSON.parse(text) })
          else reject(new Error(`${path} was answered with ${response.statusCode}: ${text}`))
        })
      })
      request.on('error', reject)
    })
  return { ask, close: () => agent.destroy() }
}

/** What so many out of a hundred did not exceed. */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil((share / 100) * sorted.length) - 1)]
}
