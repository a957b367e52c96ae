import { describe, expect, it } from 'vitest'
import { serveWithoutKeysText } from './serve-without-keys.ts'

describe('serve without keys', () => {
  it('prints commands with what was given, ready for a shell', () => {
    const text = serveWithoutKeysText({ config: 'my app/everytick.config.ts', db: 'sqlite:./a.db' })
    expect(text).toContain("everytick serve --config 'my app/everytick.config.ts' --db sqlite:./a.db --setup\n")
    expect(text).toContain('everytick keys create --name admin --scope admin --db sqlite:./a.db\n')
  })

  it('names the store of a configuration file that keys would not find', () => {
    const text = serveWithoutKeysText({ config: 'ops.config.ts', configStore: 'sqlite:./ops.db' })
    expect(text).toContain('everytick keys create --name admin --scope admin --db sqlite:./ops.db\n')
    expect(text).toContain('everytick serve --config ops.config.ts --setup\n')
  })

  it('fits on one screen and prints no password', () => {
    const text = serveWithoutKeysText({ db: 'postgres://app:s3cret@db/app?schema=x' })
    expect(text).toContain("--db 'postgres://app:PASSWORD@db/app?schema=x'")
    expect(text).not.toContain('s3cret')
    expect(text.split('\n').length).toBeLessThan(20)
  })
})
