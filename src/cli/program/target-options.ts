/** The options that bring jobs which need no code: calls over HTTP, and commands of a list. */
import type { Command } from 'commander'

export const many = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

/** They are brought when asked for. */
export const withTargets = (command: Command): Command =>
  withRules(command.option('--http', 'bring the job http, which calls the address in its payload'))

/** Calls over HTTP are there unless somebody does not want them. */
export const withDefaultTargets = (command: Command): Command =>
  withRules(command.option('--no-http', 'leave out the job http, which calls the address in its payload'))

const withRules = (command: Command): Command =>
  command
    .option('--allow-private', 'let the job http call this machine and private networks')
    .option('--allow-host <host>', 'let it call only hosts or ranges named so; may be said several times', many)
    .option('--public-url <address>', 'where receivers reach this server, to complete runs they answered with 202')
    .option('--allow-command <name=file>', 'bring the job command with this program; may be said several times', many)
