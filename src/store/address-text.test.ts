import { describe, expect, it } from 'vitest'
import { postgresAddress, readPostgresAddress, readPostgresUrl, sqliteAddress } from './address-text.ts'

describe('an address to paste', () => {
  it.each([
    ['./everytick.db', 'sqlite:./everytick.db'],
    ['/var/lib/my app.db', "'sqlite:/var/lib/my app.db'"],
    ["it's.db", `'sqlite:it'\\''s.db'`],
  ])('of the file %s is %s', (path, address) => expect(sqliteAddress(path)).toBe(address))

  it.each([
    ['postgres://app@db:5432/shop', 'everytick', 'postgres://app@db:5432/shop'],
    ['postgres://app@db/shop', 'jobs', "'postgres://app@db/shop?schema=jobs'"],
    ['postgres://app:s3cret@db/shop', 'everytick', "'postgres://app:<password>@db/shop'"],
    [
      'postgres://app:s%2Fcret@db/shop?sslmode=require',
      'everytick',
      "'postgres://app:<password>@db/shop?sslmode=require'",
    ],
    ['postgres://db/shop?user=app&password=s3cret', 'everytick', "'postgres://db/shop?user=app&password=<password>'"],
    ['postgres://app:s3cret@a:5433,b:5434/shop', 'everytick', "'postgres://app:<password>@a:5433,b:5434/shop'"],
    ['postgres://app:s3@cret@db/shop', 'everytick', "'postgres://app:<password>@db/shop'"],
    ['postgres://app:s3/cret@db/shop', 'everytick', '<address>'],
    ['postgres://app@db/shop?sslpassword=s3cret', 'everytick', "'postgres://app@db/shop?sslpassword=<password>'"],
  ])('of %s with the schema %s is %s', (url, schema, address) => expect(postgresAddress(url, schema)).toBe(address))
})

describe('the address of a Postgres store', () => {
  it('names several hosts, each with a port of its own', () => {
    expect(
      readPostgresAddress('postgres://app:p%2C1@a,b:5434,[::1]:5435/shop?target_session_attrs=read-write'),
    ).toEqual({
      urls: ['postgres://app:p%2C1@a/shop', 'postgres://app:p%2C1@b:5434/shop', 'postgres://app:p%2C1@[::1]:5435/shop'],
      hosts: 'a,b:5434,[::1]:5435',
      settings: {},
    })
  })

  it('has its first host after the last @, also where the password holds one that is not encoded', () => {
    const { urls, hosts } = readPostgresAddress('postgres://app:p@x,y@a,b/shop')
    expect(hosts).toBe('a,b')
    expect(urls.map((url) => new URL(url)).map(({ host, password }) => [host, decodeURIComponent(password)])).toEqual([
      ['a', 'p@x,y'],
      ['b', 'p@x,y'],
    ])
  })

  it('holds settings of the store, which the driver does not see', () => {
    const { urls, settings } = readPostgresAddress(
      'postgres://db/shop?prepare=false&listen=false&max=3&schema=jobs&sslmode=require',
    )
    expect({ urls, settings }).toEqual({
      urls: ['postgres://db/shop?sslmode=verify-full'],
      settings: { prepare: false, listen: false, max: 3, schema: 'jobs' },
    })
  })

  it.each([
    ['postgres://db/shop?sslmode=prefer', 'postgres://db/shop?sslmode=verify-full'],
    ['postgres://db/shop?sslmode=require', 'postgres://db/shop?sslmode=verify-full'],
    [
      'postgres://db/shop?sslmode=verify-ca&sslrootcert=a.pem',
      'postgres://db/shop?sslmode=verify-full&sslrootcert=a.pem',
    ],
    ['postgres://db/shop?sslmode=no-verify', 'postgres://db/shop?sslmode=no-verify'],
    ['postgres://db/shop?sslmode=disable', 'postgres://db/shop?sslmode=disable'],
    [
      'postgres://db/shop?sslmode=require&uselibpqcompat=true',
      'postgres://db/shop?sslmode=require&uselibpqcompat=true',
    ],
  ])('gives the driver for %s what it means, without its warning: %s', (text, url) =>
    expect(readPostgresAddress(text).urls).toEqual([url]),
  )

  it.each([
    ['postgres://app:s3cret@a,,b/shop', /empty host/],
    ['postgres://db/shop?prepare=no', /prepare in the address is true or false/],
    ['postgres://db/shop?max=0', /max in the address/],
    ['postgres://a,b/shop?target_session_attrs=standby', /Everytick writes/],
    ['postgres://app:12/s3cret@a,b/shop', /cannot be read/],
  ])('is refused as %s', (text, message) => {
    expect(() => readPostgresAddress(text)).toThrow(
      expect.objectContaining({ code: 'STORE_URL_INVALID', message: expect.stringMatching(message) }),
    )
  })

  it.each([
    'postgres://app:12/s3cret@db/shop',
    'postgres://app:12?s3cret@db/shop',
    'postgres://app:12#s3cret@db/shop',
    'postgres://app:s3/cret@db/shop',
    'postgres://app:%zzs3cret@db/shop',
    'http://app:s3cret@db/shop',
    's3cret',
  ])(
    'is refused as %s without a word of it, since a part of the password would be taken for something else',
    (text) => {
      const refusal = { code: 'STORE_URL_INVALID', message: expect.not.stringMatching(/12|cret/) }
      expect(() => readPostgresUrl(text)).toThrow(expect.objectContaining(refusal))
    },
  )

  it.each(['postgres://app:s%2F3@db/shop', 'postgresql:///shop', 'postgres://db/shop?user=a&password=b'])(
    'is read as %s',
    (text) => expect(readPostgresUrl(text).pathname).toBe('/shop'),
  )
})
