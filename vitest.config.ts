/** Which files are tests and how they run; every other choice is the runner's default. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    reporters: ['default', './test/closing-line.ts'],
    globalSetup: ['test/postgres/global-setup.ts'],
    // What the command line keeps of the configurations of tests stays out of the home folder.
    env: { XDG_CACHE_HOME: join(tmpdir(), 'everytick-tests') },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Files that one process runs share what they import: loading it again for each was a tenth of all the work.
    isolate: false,
    // Many tests wait for processes or for a database, and leave the core to others meanwhile.
    maxWorkers: 3,
  },
})
