/** Defines `completion`; the script is made from the commands as they are defined, so that it cannot lag behind. */
import { Argument, type Command } from 'commander'
import type { Shell } from '../commands/completion.ts'
import type { Io } from '../io.ts'

export function registerCompletion(program: Command, io: Io): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'which one').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: Shell) => {
      const { completion } = await import('../commands/completion.ts')
      io.write(completion(program, shell))
    })
}
