#!/usr/bin/env node
/** The CLI process: parses arguments, prints errors and sets the exit code; commands/ implements the commands. */
import { ownVersion, surroundings } from './config.ts'
import { isLogJson } from './last-word.ts'
import { leave, openNow } from './leave.ts'
import { createProgram, isHelpShown, isVersionQuestion } from './program.ts'
import { screenText } from './screen-text.ts'

const write = (text: string): void => {
  process.stdout.write(text)
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader such as `head` may close the pipe early, which is not an error.
    if (error.code === 'EPIPE') process.exit(process.exitCode)
    if (stream === process.stdout) process.stderr.write(`everytick: cannot write the output (${error.code})\n`)
    process.exitCode = 1
  })
}

const openAtStart = openNow()

async function run(args: readonly string[]): Promise<number> {
  const program = createProgram(write, args)
  try {
    await program.parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    if (isVersionQuestion(error)) return printVersion()
    if (isHelpShown(error)) return 0
    const [{ problemEntry, problemJson, problemOf, problemText, withHelp }, { calledCommand }, { unreadableAnswer }] =
      await Promise.all([import('./problem.ts'), import('./called-command.ts'), import('./server-answer.ts')])
    const problem = withHelp(problemOf(unreadableAnswer(error)), calledCommand(program, args))
    const text = args.some((each) => each === '--json' || each.startsWith('--json='))
      ? problemJson(problem)
      : isLogJson(args)
        ? problemEntry(problem)
        : problemText(problem, surroundings().errColours)
    process.stderr.write(screenText(text))
    return problem.exit
  }
}

async function printVersion(): Promise<number> {
  const { tzdataVersion } = await import('../schedule/time-zone.ts')
  write(`everytick ${ownVersion()} (tzdata ${tzdataVersion()})\n`)
  return 0
}

const waitForStop = process.argv.slice(2)
process.exitCode = await run(waitForStop.length > 0 ? waitForStop : ['--help'])
await leave(openAtStart)
