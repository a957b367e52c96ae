/** Where secrets that are tied to hosts may go: scheme and port count as well as the name. */
import { expect, it } from 'vitest'
import { isSentTo, readHost } from './secret-hosts.ts'

it.each([
  ['api.example.com', 'https://api.example.com/', true],
  ['API.example.com', 'https://api.example.com./', true],
  ['api.example.com', 'https://api.example.com:8443/', true],
  ['api.example.com', 'http://api.example.com/', false],
  ['api.example.com', 'http://api.example.com:443/', false],
  ['api.example.com', 'https://example.com/', false],
  ['api.example.com', 'https://evil.api.example.com/', false],
  ['api.example.com:443', 'https://api.example.com/', true],
  ['api.example.com:443', 'https://api.example.com:8443/', false],
  ['billing.internal:8080', 'http://billing.internal:8080/', true],
  ['billing.internal:8080', 'http://billing.internal/', false],
  ['billing.internal:80', 'http://billing.internal/', true],
  ['127.0.0.1', 'http://127.0.0.1:3000/', true],
  ['10.1.2.3', 'http://10.1.2.3/', true],
  ['localhost', 'http://localhost:3000/', true],
  ['[fd00::1]', 'http://[fd00::1]:3000/', true],
  ['fd00::1', 'http://[fd00::1]/', true],
  ['[fd00::1]:8443', 'http://[fd00::1]:8443/', true],
  ['[fd00::1]:8443', 'http://[fd00::1]:8080/', false],
  ['93.184.216.34', 'http://93.184.216.34/', false],
])('a secret for %s and the address %s: may it go there? %s', (entry, url, may) => {
  expect(isSentTo([readHost('other.example.com'), readHost(entry)], new URL(url))).toBe(may)
})
