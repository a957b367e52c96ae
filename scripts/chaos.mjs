/** The long form of the chaos tests: the same storm as in `npm test`, for as long as asked. `npm run chaos -- 60`; `CHAOS_SEED` repeats the choices of a storm. */
import { spawnSync } from 'node:child_process'

const seconds = process.argv[2] ?? '60'
if (!/^\d+$/.test(seconds)) {
  console.error('usage: npm run chaos -- [seconds]')
  process.exit(2)
}
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', 'test/chaos'], {
  stdio: 'inherit',
  env: { ...process.env, CHAOS_SECONDS: seconds },
})
process.exit(status ?? 1)
