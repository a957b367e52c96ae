/** The options that add jobs without code: HTTP requests, and commands from an allow list. */
import type { Command } from 'commander'

export const many = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

/** The job http only with `--http`. */
export const withTargets = (command: Command): Command =>
  withRules(command.option('--http', 'add the job http, which sends a request to the address in its payload'))

/** The job http unless `--no-http` is given. */
export const withDefaultTargets = (command: Command): Command =>
  withRules(command.option('--no-http', 'do not add the job http, which sends a request to the address in its payload'))

const withRules = (command: Command): Command =>
  command
    .option('--allow-private', 'allow the job http to reach this machine and private networks')
    .option('--allow-host <host>', 'allow the job http to reach only this host or range; repeatable', many)
    .option(
      '--public-url <address>',
      'address under which receivers reach this server, to complete runs they answered with 202',
    )
    .option('--allow-command <name=file>', 'add the job command and allow it to run this program; repeatable', many)
