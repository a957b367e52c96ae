import { describe, expect, it } from 'vitest'
import { readAllowList } from './allow-list.ts'

describe('an allow-list', () => {
  it.each([
    ['api.example.com', 'api.example.com', '443', true],
    ['api.example.com', 'api.example.com', '8080', true],
    ['api.example.com', 'example.com', '443', false],
    ['api.example.com', 'evil-api.example.com', '443', false],
    ['api.example.com', 'api.example.com.evil.test', '443', false],
    ['API.Example.COM.', 'api.example.com', '443', true],
    ['bücher.example', 'xn--bcher-kva.example', '443', true],
    ['*.example.com', 'a.example.com', '443', true],
    ['*.example.com', 'a.b.example.com', '443', true],
    ['*.example.com', 'example.com', '443', false],
    ['*.example.com', 'badexample.com', '443', false],
    ['example.com:8443', 'example.com', '8443', true],
    ['example.com:8443', 'example.com', '443', false],
    ['*.example.com:8443', 'a.example.com', '8443', true],
    ['*.example.com:8443', 'a.example.com', '443', false],
    ['10.1.2.3', '10.1.2.3', '80', true],
    ['10.1.2.3:8080', '10.1.2.3', '8080', true],
    ['10.1.2.3:8080', '10.1.2.3', '80', false],
    ['10.0.0.0/8', '10.255.0.1', '80', true],
    ['10.0.0.0/8', '::ffff:10.255.0.1', '80', false],
    ['fd00::/8', 'fd12::1', '80', true],
    ['fd12::1', 'fd12:0::1', '80', true],
    ['[fd12::1]', 'fd12::1', '80', true],
    ['[fd12::1]:8080', 'fd12::1', '8080', true],
    ['[fd12::1]:8080', 'fd12::1', '80', false],
    ['localhost', 'localhost', '80', true],
    ['localhost', 'a.localhost', '80', false],
  ])('with %s has %s at port %s: %s', (entry, host, port, has) => {
    expect(readAllowList([entry]).has(host, port)).toBe(has)
  })

  it.each([
    '',
    '*',
    '*.',
    'a*.example.com',
    '*.*.example.com',
    'https://example.com',
    'example.com/path',
    'user@example.com',
    'example.com:0',
    'example.com:65536',
    'example.com:http',
    'example com',
    'example..com',
    '2130706433',
    '0x7f.1',
    '127.1',
    '10.0.0.0/33',
    '10.0.0.0/8:80',
    '[fd12::1',
    'fe80::1%eth0',
    7,
    null,
  ])('has no entry like %o', (entry) => {
    expect(() => readAllowList([entry])).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
  })

  it('is a list', () => {
    expect(() => readAllowList('example.com')).toThrow('allow is a list of hosts')
  })
})
