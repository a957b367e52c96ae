/** Runs one child program to its end and answers with its exit code; what a code means is the caller's to say. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

/**
 * The child's own output goes to standard error, so that standard output stays free for what the user asked for.
 * Waiting is asynchronous because the set-up lock has to show signs of life meanwhile.
 */
export function runChild(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 2, 2] })
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code === null ? 128 + constants.signals[signal] : code))
  })
}
