/** Finds the command that the arguments name, so that an error can point to its help; commander parses the rest. */
import type { Command } from 'commander'

export interface CalledCommand {
  /** Such as `everytick runs retry`. */
  readonly name: string
  /** Its subcommands, such as `ls`; empty for the program itself, which has too many to list. */
  readonly subcommands: readonly string[]
}

/** Follows the arguments as far as they name commands, skipping options and their values. */
export function calledCommand(program: Command, args: readonly string[]): CalledCommand {
  const path = [program.name()]
  let at = program
  for (let i = 0; i < args.length; i++) {
    const word = args[i]!
    if (word === '--') break
    if (word.startsWith('-')) {
      if (takesNextWord(at, word)) i++
      continue
    }
    const next = at.commands.find((command) => command.name() === word)
    if (!next) break
    path.push(next.name())
    at = next
  }
  const subcommands = at === program ? [] : at.commands.map((command) => command.name())
  return { name: path.join(' '), subcommands }
}

const takesNextWord = (command: Command, word: string): boolean =>
  command.options.some((option) => option.required && (option.long === word || option.short === word))
