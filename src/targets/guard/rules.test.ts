import { describe, expect, it } from 'vitest'
import { readAllowList } from './allow-list.ts'
import { checkAddresses, checkUrl, type Rules } from './rules.ts'

const closed: Rules = { allow: null, allowPrivate: false }
const inHouse: Rules = { allow: null, allowPrivate: true }
const listed = (...entries: string[]): Rules => ({ allow: readAllowList(entries), allowPrivate: false })

const check = (url: string, rules: Rules) => checkUrl(url, rules).href
const checkFound = (addresses: readonly string[], rules: Rules, port = '443') =>
  checkAddresses(addresses, { host: 'hook.example', port }, rules)
const refused = (message: string | RegExp) =>
  expect.objectContaining({ code: 'TARGET_REFUSED', message: expect.stringMatching(message) })

describe('a URL', () => {
  it.each([
    'https://example.com/hook?a=b',
    'http://example.com:8080/',
    'https://example.com./',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
    'https://bücher.example/',
  ])('of a public host passes: %s', (url) => expect(check(url, closed)).toBe(new URL(url).href))

  it.each([
    ['ftp://example.com/', 'only http and https'],
    ['file:///etc/passwd', 'only http and https'],
    ['unix:/var/run/docker.sock', 'only http and https'],
    ['example.com', 'cannot be read'],
    ['http://', 'cannot be read'],
    ['https://user:geheim@example.com/', 'a user or a password'],
    [' https://example.com/', 'cannot be seen'],
    ['https://exa\nmple.com/', 'cannot be seen'],
    ['https://exa\u00admple.com/', 'cannot be seen'],
    [`https://example.com/${'a'.repeat(2048)}`, 'more than 2048 characters'],
    ['https://example..com/', 'not a name'],
    ['https://a!b.example/', 'not a name'],
    ['https://example.com:0/', 'port 0'],
    ['https://example.com:25/', 'port 25 is for another protocol'],
    ['https://example.com:6379/', 'port 6379 is for another protocol'],
    ['http://localhost/', 'not public'],
    ['http://a.localhost./', 'not public'],
    ['http://localhost.localdomain/', 'not public'],
  ])('is refused: %s', (url, reason) => expect(() => check(url, closed)).toThrow(refused(reason)))

  it('is not repeated in the refusal', () => {
    for (const url of ['http://127.0.0.1/geheim', 'ftp://geheim', 'https://u:geheim@example.com/', '//geheim']) {
      expect(() => check(url, closed)).toThrow(
        expect.not.objectContaining({ message: expect.stringMatching('geheim') }),
      )
    }
  })
})

describe('a private address', () => {
  it.each(['http://127.0.0.1:8080/', 'http://10.1.2.3/', 'http://[::1]/', 'http://[fd12::1]/', 'http://localhost/'])(
    'passes when private ones may be called: %s',
    (url) => {
      expect(() => check(url, closed)).toThrow(refused('not public'))
      expect(check(url, inHouse)).toBe(url)
    },
  )

  it.each([
    '169.254.169.254',
    '100.100.100.200',
    '0.0.0.0',
    '[::]',
    '224.0.0.1',
    '[::ffff:10.1.2.3]',
    '[fd00:ec2::254]',
  ])('is no reason to call %s', (host) => {
    expect(() => check(`http://${host}/`, inHouse)).toThrow(refused('not public'))
    expect(() => checkFound([host.replaceAll(/[[\]]/g, '')], listed('hook.example'))).toThrow(refused('not public'))
  })

  it('that clouds keep their keys at passes only when the list has that address', () => {
    const url = 'http://169.254.169.254/'
    expect(check(url, listed('169.254.169.254'))).toBe(url)
    expect(check(url, listed('169.254.0.0/16'))).toBe(url)
  })
})

describe('a list of private hosts', () => {
  const rules: Rules = { allow: null, allowPrivate: readAllowList(['ops.internal', '10.0.0.0/8', 'localhost:9000']) }

  it.each(['https://hook.example/', 'http://10.1.2.3/', 'http://localhost:9000/', 'http://ops.internal:8080/'])(
    'leaves %s to be called',
    (url) => expect(check(url, rules)).toBe(url),
  )

  it('lets no other private address be called, and no metadata of a cloud', () => {
    for (const url of ['http://127.0.0.1/', 'http://192.168.0.1/'])
      expect(() => check(url, rules)).toThrow(refused('not public'))
    const wide: Rules = { allow: null, allowPrivate: readAllowList(['169.254.0.0/16']) }
    expect(() => check('http://169.254.169.254/', wide)).toThrow(refused('not public'))
  })

  it('lets a name lead into the house only if the name or the address is on it', () => {
    checkFound(['10.1.2.3', '8.8.8.8'], rules)
    expect(() => checkFound(['192.168.0.1'], rules)).toThrow(refused('not public'))
    checkFound(['192.168.0.1'], { allow: null, allowPrivate: readAllowList(['hook.example']) })
  })
})

describe('a list', () => {
  it('leaves all others out, though they are public', () => {
    expect(() => check('https://other.example/', listed('hook.example'))).toThrow(refused('not on the allow-list'))
    expect(() => check('https://8.8.8.8/', listed('hook.example'))).toThrow(refused('not on the allow-list'))
    expect(() => check('https://hook.example/', listed())).toThrow(refused('not on the allow-list'))
  })

  it('is not made longer by allowing private addresses', () => {
    const rules = { ...listed('hook.example'), allowPrivate: true }
    expect(() => check('http://127.0.0.1/', rules)).toThrow(refused('not on the allow-list'))
  })

  it('lets a name on it lead into the house', () => {
    checkFound(['10.1.2.3', '8.8.8.8'], listed('hook.example'))
    checkFound(['127.0.0.1'], listed('*.example:443'))
    expect(() => checkFound(['127.0.0.1'], listed('*.example:443'), '80')).toThrow(refused('not on the allow-list'))
  })

  it('lets any name pass whose addresses are all in a range of it', () => {
    const rules = listed('10.0.0.0/8')
    expect(check('https://hook.example/', rules)).toBe('https://hook.example/')
    checkFound(['10.1.2.3', '10.1.2.4'], rules)
    expect(() => checkFound(['10.1.2.3', '11.1.2.3'], rules)).toThrow(refused('not on the allow-list'))
  })

  it('opens a port of another protocol only for the host that has it there', () => {
    const rules = listed('hook.example:6379', 'other.example')
    expect(check('http://hook.example:6379/', rules)).toBe('http://hook.example:6379/')
    expect(() => check('http://other.example:6379/', rules)).toThrow(refused('another protocol'))
  })
})

describe('a name', () => {
  it('passes when all its addresses are public', () => checkFound(['8.8.8.8', '2606:4700:4700::1111'], closed))

  it.each([
    ['one of its addresses is not public', ['8.8.8.8', '127.0.0.1'], 'not public'],
    ['the last of many is not', [...new Array<string>(50).fill('8.8.8.8'), '::1'], 'not public'],
    ['what it leads to is no address', ['elsewhere.example'], 'not public'],
    ['it has no address', [], 'no address'],
  ])('is refused when %s', (_, addresses, reason) => {
    expect(() => checkFound(addresses, closed)).toThrow(refused(reason))
  })
})
