/** Defines `completion`; generates the script from the command definitions, so that it cannot go out of date. */
import { Argument, type Command } from 'commander'
import type { Shell } from '../commands/completion.ts'
import type { Io } from '../io.ts'

export function registerCompletion(program: Command, io: Io): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: Shell) => {
      const { completion } = await import('../commands/completion.ts')
      io.write(completion(program, shell))
    })
}
