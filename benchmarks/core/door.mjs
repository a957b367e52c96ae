/** Prints how many milliseconds it takes to load the package in a process that has loaded nothing else. */
const startedAt = performance.now()
await import('everytick')
process.stdout.write(JSON.stringify(performance.now() - startedAt))
