/** Defines `keys`: make, list, revoke and roll what a server asks for. */
import { type Command, Option } from 'commander'
import type { KeysCreateOptions, KeysListOptions, KeysOptions, KeysRollOptions } from '../commands/keys.ts'
import type { Io } from '../io.ts'
import { withBackendOptions, withDryRun, withPages } from './options.ts'

export function registerKeys(program: Command, io: Io): void {
  const keys = program.command('keys').description('make, list, revoke and roll API keys')
  withDryRun(withBackendOptions(keys.command('create')))
    .description('make a key and print it; it is not shown again')
    .requiredOption('--name <name>', 'whose it is, as the audit log will say')
    .addOption(new Option('--scope <scope>', 'what it may do').choices(['read', 'operate', 'admin']).default('read'))
    .option('--workspace <name>', 'bind it to one workspace')
    .option('--expires-in <duration>', 'such as 90d')
    .action(async (options: KeysCreateOptions) => {
      const { createKey } = await import('../commands/keys.ts')
      await createKey(options, io)
    })
  withPages(withBackendOptions(keys.command('ls')))
    .description('list keys, newest first, without their secrets')
    .action(async (options: KeysListOptions) => {
      const { listKeys } = await import('../commands/keys.ts')
      await listKeys(options, io)
    })
  withDryRun(withBackendOptions(keys.command('revoke <id>')))
    .description('revoke a key; every node refuses it within a second')
    .action(async (id: string, options: KeysOptions) => {
      const { revokeKey } = await import('../commands/keys.ts')
      await revokeKey(id, options, io)
    })
  withDryRun(withBackendOptions(keys.command('roll <id>')))
    .description('make a key like this one, print it, and revoke this one')
    .option('--expires-in <duration>', 'such as 90d')
    .action(async (id: string, options: KeysRollOptions) => {
      const { rollKey } = await import('../commands/keys.ts')
      await rollKey(id, options, io)
    })
}
