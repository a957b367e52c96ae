/** `everytick dev`: runs the user's jobs on a development database, serves the API to this machine, and reloads on changes. */
import { dirname, join, resolve } from 'node:path'
import { ERROR_CODES, type ErrorCode, EverytickError } from '../../errors.ts'
import { openBackend } from '../backend.ts'
import { CONFIG_FILES, JOB_FILES } from '../config-file.ts'
import { type Front, openFront } from '../dev/front.ts'
import { keyboard } from '../dev/keyboard.ts'
import { createProject, type Project } from '../dev/project.ts'
import { watchFiles } from '../dev/watch-files.ts'
import type { Io } from '../io.ts'
import { withoutConfig } from '../no-config.ts'
import { printable, type View } from '../print.ts'
import { type Problem, problemText } from '../problem.ts'
import { readPort, readSeconds } from '../read-number.ts'
import { waitForStop } from '../stop-signal.ts'
import { type TargetOptions, targetJobs } from '../target-jobs.ts'
import { UsageError } from '../usage-error.ts'

export interface DevOptions extends TargetOptions {
  readonly config?: string
  readonly db?: string
  readonly port?: string
  /** Stops after this many seconds. */
  readonly seconds?: string
}

const PORT = 4410
const HOUR_MS = 3_600_000

export async function dev(options: DevOptions, io: Io): Promise<void> {
  const seconds = readSeconds(options.seconds)
  const noConfig = withoutConfig(options.config)
  // Fail now on invalid options: changing a file would not fix them.
  targetJobs(options, true)
  const front = await openDoor(options.port === undefined ? null : readPort(options.port), io)
  const view = await io.view()
  const url = `http://localhost:${front.port}`
  let failure: Problem | null = null
  let isUp = false
  let isStopping = false
  const project = createProject({
    setting: {
      ...{ config: options.config ?? null, noConfig, db: options.db ?? null },
      ...{ url, keys: io.around.asks, targets: options },
    },
    lead: front.lead,
    onFile: (path) => files.add(path),
    onProblem(problem) {
      failure = problem
      if (isStopping) return
      if (isUp || io.around.asks) io.note(problemText(problem, io.around.errColours))
    },
    onCrash: (code) =>
      io.note(`  the process running your jobs exited unexpectedly (${code ?? 'killed'}); save a file to restart it\n`),
  })
  // A second Ctrl-C ends this process and the user's code at once.
  process.once('exit', () => project.kill())
  const files = watchFiles((path) => {
    io.write(`  ${view.colours.dim('changed')}    ${printable(path)}\n`)
    void project.load().then((loaded) => {
      if (!loaded) io.note('  cannot load the change; fix it and save again\n')
    })
  })
  const folder = options.config === undefined ? '.' : dirname(resolve(options.config))
  for (const name of noConfig ? [] : [...CONFIG_FILES, ...JOB_FILES]) files.add(join(folder, name))
  let unhear = (): void => {}
  try {
    let quit = (): void => {}
    const quitted = new Promise<void>((resolve) => {
      quit = resolve
    })
    // Before starting the first child process, because each child restores the terminal mode it found.
    if (io.around.asks) unhear = await hear({ io, view, url, project, quit: () => quit() })
    isUp = await Promise.race([project.load(), quitted.then(() => true)])
    // At a terminal the user can fix the file, which reloads it; without one, fail.
    if (!isUp && !io.around.asks) throw errorOf(failure)
    await Promise.race([quitted, waitForStop(seconds)])
    isStopping = true
    const problem = await project.stop()
    if (problem) throw errorOf(problem)
  } finally {
    unhear()
    files.close()
    project.kill()
    await front.close()
  }
}

/** The default port, or a free one if it is in use; an explicit --port has no fallback. */
async function openDoor(port: number | null, io: Io): Promise<Front> {
  if (port !== null) return openFront(port)
  try {
    return await openFront(PORT)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    io.note(`  ${error.message}; using a free one\n`)
    return openFront(0)
  }
}

/** Rebuilds the error: the child process can send only its fields. */
function errorOf(problem: Problem | null): Error {
  if (!problem)
    return new UsageError('the process running your jobs exited before it was ready', { code: 'CONFIG_FAILED' })
  const { code, message, hint, source, span } = problem
  if (code in ERROR_CODES) {
    const details = { ...(hint && { hint }), ...(source !== undefined && { source }), ...(span && { span }) }
    return new EverytickError(code as ErrorCode, message, details)
  }
  return new UsageError(message, { code, otherwise: 'failed', ...(hint && { hint }) })
}

interface Hearing {
  readonly io: Io
  readonly view: View
  readonly url: string
  readonly project: Project
  readonly quit: () => void
}

/** Reads single keys; returns a function that stops it. */
async function hear({ io, view, url, project, quit }: Hearing): Promise<() => void> {
  const backend = await openBackend({ url })
  let waitForStop = false
  const press = keyboard({
    ...{ backend, url, view, write: io.write },
    quit() {
      // A second quit key exits without waiting.
      if (waitForStop) {
        project.kill()
        process.exit(130)
      }
      waitForStop = true
      quit()
    },
    async forward() {
      if (!project.movesClock)
        return io.write('  cannot move this clock: f works only with SQLite files that dev opens itself\n')
      io.write(
        '  clock      moved one hour ahead; occurrences in that hour follow the catch-up policy of their schedule\n',
      )
      await project.load({ moveMs: HOUR_MS })
    },
  })
  const { stdin } = process
  const onData = (data: Buffer): void => press(data.toString('utf8'))
  stdin.setRawMode(true)
  stdin.on('data', onData).resume()
  return () => {
    stdin.off('data', onData).pause()
    stdin.setRawMode(false)
  }
}
