/** Defines `queues`, `workers`, `locks` and `quotas`: what a fleet works with, and how to hold it back. */
import type { Command } from 'commander'
import type { FleetOptions, QueueLimitOptions, QueuePauseOptions } from '../commands/fleet.ts'
import type { LockReleaseOptions } from '../commands/locks.ts'
import type { QuotasOptions } from '../commands/quotas.ts'
import type { Io } from '../io.ts'
import { withBackendOptions, withDryRun } from './options.ts'

export function registerFleet(program: Command, io: Io): void {
  const queues = program.command('queues').description('show queues; pause, resume or limit one')
  withBackendOptions(queues.command('ls', { isDefault: true }))
    .description('list queues with limits, with runs or at rest')
    .action(async (options: FleetOptions) => {
      const { listQueues } = await import('../commands/fleet.ts')
      await listQueues(options, io)
    })
  withDryRun(withBackendOptions(queues.command('pause <name>')))
    .description('let nothing of a queue start, in any process; what runs goes on')
    .option('--reason <text>', 'for those who wonder')
    .action(async (name: string, options: QueuePauseOptions) => {
      const { pauseQueue } = await import('../commands/fleet.ts')
      await pauseQueue(name, options, io)
    })
  withDryRun(withBackendOptions(queues.command('resume <name>')))
    .description('let runs of a queue start again')
    .action(async (name: string, options: FleetOptions) => {
      const { resumeQueue } = await import('../commands/fleet.ts')
      await resumeQueue(name, options, io)
    })
  withDryRun(withBackendOptions(queues.command('limit <name>')))
    .description('set the limits of a queue for all processes; those not named stay')
    .option('--global-concurrency <number>', 'runs at once in all processes, or none')
    .option('--per-workspace <number>', 'of them for one workspace, or none')
    .option('--rate <number/duration>', 'starts in a while, such as 100/1m, or none')
    .action(async (name: string, options: QueueLimitOptions) => {
      const { limitQueue } = await import('../commands/fleet.ts')
      await limitQueue(name, options, io)
    })

  withBackendOptions(program.command('quotas'))
    .description('show the quotas of a workspace and how much it uses')
    .option('--workspace <name>', 'whose; default when absent, or the workspace of the key')
    .action(async (options: QuotasOptions) => {
      const { listQuotas } = await import('../commands/quotas.ts')
      await listQuotas(options, io)
    })

  const workers = program.command('workers').description('show processes that plan or work; drain one')
  withBackendOptions(workers.command('ls', { isDefault: true }))
    .description('list processes that were seen in the last hour')
    .action(async (options: FleetOptions) => {
      const { listWorkers } = await import('../commands/fleet.ts')
      await listWorkers(options, io)
    })
  withDryRun(withBackendOptions(workers.command('drain <id>')))
    .description('let a process claim nothing more; what it works on goes on')
    .action(async (id: string, options: FleetOptions) => {
      const { drainWorker } = await import('../commands/fleet.ts')
      await drainWorker(id, options, io)
    })

  const locks = program.command('locks').description('show who holds which lock; release one')
  withBackendOptions(locks.command('ls', { isDefault: true }))
    .description('list the locks of your code and the leases of the engine')
    .action(async (options: FleetOptions) => {
      const { listLocks } = await import('../commands/locks.ts')
      await listLocks(options, io)
    })
  withDryRun(withBackendOptions(locks.command('release <name>')))
    .description('take a lock away from its holder, which may work on until its next renewal')
    .option('--engine', 'a lease of the engine, not a lock of your code')
    .option('--fence <number>', 'only the hold with this fence')
    .action(async (name: string, options: LockReleaseOptions) => {
      const { releaseLock } = await import('../commands/locks.ts')
      await releaseLock(name, options, io)
    })
}
