/** Options of commands that can change many items in one bulk operation. */
import type { Command } from 'commander'

export const withBulkOptions = (command: Command, example: string): Command =>
  command
    .option('--where <words...>', `change all that match, as a bulk operation in the background: ${example}, or all`)
    .option('--yes', 'do not ask for confirmation')
    .option('--detach', 'exit without waiting for the operation to finish')
