import { describe, expect, it } from 'vitest'
import { changedConfig, hears, readConfig, shownConfig } from './channel.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const webhook = { kind: 'webhook', url: 'https://example.com/hook', secret }
const mail = { kind: 'email', host: 'mail.example.com', user: 'u', password: 'geheim', from: 'a@b.c', to: ['d@e.f'] }

describe('a channel', () => {
  it.each([
    [webhook, { kind: 'webhook', url: 'https://example.com/hook', secret: true }],
    [
      { kind: 'slack', url: 'https://example.com/T0/B0/xyz' },
      { kind: 'slack', url: true },
    ],
    [mail, { kind: 'email', port: 587, secure: false, password: true, to: ['d@e.f'] }],
    [
      { ...mail, user: undefined, password: null, port: 465 },
      { secure: true, password: false, user: null },
    ],
    [{ kind: 'log' }, { kind: 'log' }],
  ])('is shown without its secrets: %j', (given, expected) => {
    const shown = shownConfig(readConfig(given))
    expect(shown).toMatchObject(expected)
    for (const hidden of [secret, 'geheim', 'xyz']) expect(JSON.stringify(shown)).not.toContain(hidden)
  })

  it.each([
    ['an unknown kind', { kind: 'pigeon' }],
    ['another protocol', { ...webhook, url: 'file:///etc/passwd' }],
    ['no address', { ...webhook, url: 'example.com' }],
    ['a password in its address', { ...webhook, url: 'https://u:p@example.com/' }],
    ['a secret that is too short', { ...webhook, secret: 'whsec_YWJj' }],
    ['no secret', { ...webhook, secret: undefined }],
    ['a field of another kind', { ...webhook, host: 'x' }],
    ['a mailbox with a header in it', { ...mail, to: ['a@b.c\r\nbcc: x@y.z'] }],
    ['a mailbox that is a list', { ...mail, from: 'a@b.c, d@e.f' }],
    ['nobody to tell', { ...mail, to: [] }],
    ['a user without a password', { ...mail, password: null }],
  ])('is refused with %s, and the refusal does not quote secrets', (_, given) => {
    let refusal = ''
    try {
      readConfig(given)
    } catch (error) {
      refusal = `${error}`
    }
    expect(refusal).toContain('EverytickError')
    for (const hidden of [secret, 'geheim', 'u:p@']) expect(refusal).not.toContain(hidden)
  })

  it('keeps a secret that a change leaves out', () => {
    expect(changedConfig(readConfig(webhook), { url: 'https://example.com/new' })).toMatchObject({
      url: 'https://example.com/new',
      secret,
    })
    expect(changedConfig(readConfig(mail), { port: 2525 })).toMatchObject({ port: 2525, password: 'geheim' })
  })

  it('does not take a password along to another host', () => {
    const config = readConfig(mail)
    expect(() => changedConfig(config, { host: 'evil.example.com' })).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    )
    const user = { user: 'v', password: 'neu' }
    expect(changedConfig(config, { host: 'other.example.com', ...user })).toMatchObject(user)
  })

  it.each([
    [{ workspace: '', enabled: true }, 'acme', true],
    [{ workspace: '', enabled: true }, '', true],
    [{ workspace: 'acme', enabled: true }, 'acme', true],
    [{ workspace: 'acme', enabled: true }, '', false],
    [{ workspace: 'acme', enabled: true }, 'other', false],
    [{ workspace: '', enabled: false }, 'acme', false],
  ])('%j hears of workspace "%s": %s', (channel, workspace, expected) => {
    expect(hears(channel, workspace)).toBe(expected)
  })
})
