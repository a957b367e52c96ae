import { describe, expect, it } from 'vitest'
import { loadPeer } from './peer.ts'

const failing = (error: unknown) =>
  loadPeer({ name: 'lantern', for: 'lantern()', load: () => Promise.reject(error) }).catch((thrown: unknown) => thrown)
const notFound = (message: string): Error => Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' })

describe('a package that only some users need', () => {
  it('is handed on when it is there', async () => {
    expect(await loadPeer({ name: 'lantern', for: 'lantern()', load: async () => ({ lit: true }) })).toEqual({
      lit: true,
    })
  })

  it('is named when it is not there', async () => {
    expect(await failing(notFound("Cannot find package 'lantern' imported from here"))).toMatchObject({
      code: 'PACKAGE_MISSING',
      message: 'lantern() needs the package lantern, which is not installed',
      hint: 'npm install lantern',
    })
  })

  it('is named together with one that it needs in turn', async () => {
    expect(await failing(notFound("Cannot find module '@light/wick'\nRequire stack: …"))).toMatchObject({
      code: 'PACKAGE_MISSING',
      message: 'lantern() needs the package @light/wick, which is not installed',
      hint: 'npm install lantern @light/wick',
    })
  })

  it('is not blamed for what is wrong inside of it', async () => {
    const broken = new Error('a syntax error')
    const halfThere = notFound("Cannot find module './wick.js'")
    expect(await failing(broken)).toBe(broken)
    expect(await failing(halfThere)).toBe(halfThere)
  })
})
