/** Options of commands that can change many things at once. */
import type { Command } from 'commander'

export const withBulkOptions = (command: Command, example: string): Command =>
  command
    .option('--where <words...>', `all that fit, in the background: ${example}, or all`)
    .option('--yes', 'do not ask')
    .option('--detach', 'do not wait until it is done')
