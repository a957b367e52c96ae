/** Defines `keys`: create, list, revoke and roll API keys. */
import { type Command, Option } from 'commander'
import type { KeysCreateOptions, KeysListOptions, KeysOptions, KeysRollOptions } from '../commands/keys.ts'
import type { Io } from '../io.ts'
import { withBackendOptions, withDryRun, withPages } from './options.ts'

export function registerKeys(program: Command, io: Io): void {
  const keys = program.command('keys').description('create, list, revoke and roll API keys')
  withDryRun(withBackendOptions(keys.command('create')))
    .description('create a key and print it once')
    .requiredOption('--name <name>', 'name of the key, shown in the audit log')
    .addOption(
      new Option('--scope <scope>', 'what the key may do').choices(['read', 'operate', 'admin']).default('read'),
    )
    .option('--workspace <name>', 'bind the key to one workspace')
    .option('--expires-in <duration>', 'lifetime of the key, such as 90d')
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
    .description('revoke a key; every server refuses it within one second')
    .action(async (id: string, options: KeysOptions) => {
      const { revokeKey } = await import('../commands/keys.ts')
      await revokeKey(id, options, io)
    })
  withDryRun(withBackendOptions(keys.command('roll <id>')))
    .description('replace a key: create one with the same name, scope and workspace, print it, revoke the old one')
    .option('--expires-in <duration>', 'lifetime of the key, such as 90d')
    .action(async (id: string, options: KeysRollOptions) => {
      const { rollKey } = await import('../commands/keys.ts')
      await rollKey(id, options, io)
    })
}
