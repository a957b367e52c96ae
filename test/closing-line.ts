/** Prints one plain closing line, `N passed, N failed, N skipped`, which any CI can read; the rest is vitest's own report. */
import type { Reporter, TestModule } from 'vitest/node'

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state] += 1
      if (module.errors().length > 0) count.failed += 1
    }
    process.stdout.write(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`)
  }
}
