/** The process around node.ts: started with a JSON argument, it serves until it is killed. */
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

// Kept open: some modules are loaded when they are first needed.
const vite = await createServer({
  configFile: false,
  logLevel: 'silent',
  server: { middlewareMode: true, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
})
const { run } = await vite.ssrLoadModule(fileURLToPath(new URL('./node.ts', import.meta.url)))
process.on('disconnect', () => process.exit(0))
process.send?.(await run(JSON.parse(process.argv[2])))
