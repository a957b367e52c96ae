/** Defines `queues`, `workers`, `locks` and `quotas`: what a fleet of processes shares, and how to limit it. */
import type { Command } from 'commander'
import type { FleetOptions, QueueLimitOptions, QueuePauseOptions } from '../commands/fleet.ts'
import type { LockReleaseOptions } from '../commands/locks.ts'
import type { QuotasOptions } from '../commands/quotas.ts'
import type { Io } from '../io.ts'
import { withBackendOptions, withDryRun } from './options.ts'

export function registerFleet(program: Command, io: Io): void {
  const queues = program.command('queues').description('list queues; pause, resume or limit one')
  withBackendOptions(queues.command('ls', { isDefault: true }))
    .description('list queues, their limits and their runs')
    .action(async (options: FleetOptions) => {
      const { listQueues } = await import('../commands/fleet.ts')
      await listQueues(options, io)
    })
  withDryRun(withBackendOptions(queues.command('pause <name>')))
    .description('pause a queue in all processes; running runs continue')
    .option('--reason <text>', 'why the queue is paused')
    .action(async (name: string, options: QueuePauseOptions) => {
      const { pauseQueue } = await import('../commands/fleet.ts')
      await pauseQueue(name, options, io)
    })
  withDryRun(withBackendOptions(queues.command('resume <name>')))
    .description('resume a paused queue')
    .action(async (name: string, options: FleetOptions) => {
      const { resumeQueue } = await import('../commands/fleet.ts')
      await resumeQueue(name, options, io)
    })
  withDryRun(withBackendOptions(queues.command('limit <name>')))
    .description('set the limits of a queue across all processes; options you omit keep their values')
    .option('--global-concurrency <number>', 'maximum running runs across all processes, or none')
    .option('--per-workspace <number>', 'maximum running runs of one workspace, or none')
    .option('--rate <number/duration>', 'maximum starts per period, such as 100/1m, or none')
    .action(async (name: string, options: QueueLimitOptions) => {
      const { limitQueue } = await import('../commands/fleet.ts')
      await limitQueue(name, options, io)
    })

  withBackendOptions(program.command('quotas'))
    .description('show the quotas of a workspace and how much it uses')
    .option('--workspace <name>', 'the workspace (default: the workspace of the key, else default)')
    .action(async (options: QuotasOptions) => {
      const { listQuotas } = await import('../commands/quotas.ts')
      await listQuotas(options, io)
    })

  const workers = program.command('workers').description('list processes that plan or execute runs; drain one')
  withBackendOptions(workers.command('ls', { isDefault: true }))
    .description('list processes seen in the last hour')
    .action(async (options: FleetOptions) => {
      const { listWorkers } = await import('../commands/fleet.ts')
      await listWorkers(options, io)
    })
  withDryRun(withBackendOptions(workers.command('drain <id>')))
    .description('let a process claim no more runs; runs it has started continue')
    .action(async (id: string, options: FleetOptions) => {
      const { drainWorker } = await import('../commands/fleet.ts')
      await drainWorker(id, options, io)
    })

  const locks = program.command('locks').description('list locks and their holders; release one')
  withBackendOptions(locks.command('ls', { isDefault: true }))
    .description('list the locks of your code and the leases of the engine')
    .action(async (options: FleetOptions) => {
      const { listLocks } = await import('../commands/locks.ts')
      await listLocks(options, io)
    })
  withDryRun(withBackendOptions(locks.command('release <name>')))
    .description('release a lock by force; its holder may continue until its next renewal')
    .option('--engine', 'release a lease of the engine instead of a lock of your code')
    .option('--fence <number>', 'release it only if its fence has this value')
    .action(async (name: string, options: LockReleaseOptions) => {
      const { releaseLock } = await import('../commands/locks.ts')
      await releaseLock(name, options, io)
    })
}
