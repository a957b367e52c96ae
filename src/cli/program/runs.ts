/** Defines `runs` and `ops`, the commands on runs and bulk operations; commands/ implements each. */
import type { Command } from 'commander'
import type { BackendOptions } from '../backend.ts'
import type { ChangeOptions } from '../change.ts'
import type { BulkOptions } from '../commands/ops-bulk.ts'
import type { LogOptions } from '../commands/runs-logs.ts'
import type { Io } from '../io.ts'
import type { ListOptions } from '../listing.ts'
import { withBulkOptions } from './bulk-options.ts'
import { withBackendOptions, withDryRun, withPages } from './options.ts'

export function registerRuns(program: Command, io: Io): void {
  const runs = program.command('runs').description('list runs, read their logs, retry, cancel or delete them')
  withPages(withBackendOptions(runs.command('ls [query...]')))
    .description('list runs, newest first')
    .addHelpText('after', '\nQuery: status:failed,running schedule:key workspace:t_42 job:x queue:mail')
    .action(async (words: string[], options: ListOptions & BackendOptions) => {
      const [{ listRuns }, { runCommand }] = await Promise.all([import('../commands/runs.ts'), context()])
      await runCommand(io, options, (at) => listRuns(at, words, options))
    })
  withBackendOptions(runs.command('get <id>'))
    .description('show one run and its journal')
    .action(async (id: string, options: ChangeOptions) => {
      const [{ getRun }, { runCommand }] = await Promise.all([import('../commands/runs.ts'), context()])
      await runCommand(io, options, (at) => getRun(at, id, options))
    })
  withBackendOptions(runs.command('logs <id>'))
    .description('print the log of a run')
    .option('-f, --follow', 'follow the log until the run ends')
    .action(async (id: string, options: LogOptions & BackendOptions) => {
      const [{ runLogs }, { runCommand }] = await Promise.all([import('../commands/runs-logs.ts'), context()])
      await runCommand(io, options, (at) => runLogs(at, id, options))
    })
  withDryRun(withBulkOptions(withBackendOptions(runs.command('retry [ids...]')), 'job=name'))
    .description('retry failed runs with a new series of attempts')
    .action(async (ids: string[], options: BulkOptions & BackendOptions) => {
      const [{ retryRuns }, { runCommand }] = await Promise.all([import('../commands/runs-change.ts'), context()])
      await runCommand(io, options, (at) => retryRuns(at, ids, options))
    })
  withDryRun(withBulkOptions(withBackendOptions(runs.command('cancel [ids...]')), 'job=name'))
    .description('cancel runs: pending runs end at once, running runs get an abort signal')
    .action(async (ids: string[], options: BulkOptions & BackendOptions) => {
      const [{ cancelRuns }, { runCommand }] = await Promise.all([import('../commands/runs-change.ts'), context()])
      await runCommand(io, options, (at) => cancelRuns(at, ids, options))
    })
  withDryRun(withBackendOptions(runs.command('rm <ids...>')))
    .description('delete finished runs with their journal and log; their occurrences stay in the ledger')
    .action(async (ids: string[], options: BulkOptions & BackendOptions) => {
      const [{ removeRuns }, { runCommand }] = await Promise.all([import('../commands/runs-change.ts'), context()])
      await runCommand(io, options, (at) => removeRuns(at, ids, options))
    })
  registerOps(program, io)
}

function registerOps(program: Command, io: Io): void {
  const ops = program.command('ops').description('list, watch and cancel bulk operations')
  withPages(withBackendOptions(ops.command('ls')))
    .description('list bulk operations, newest first')
    .action(async (options: ListOptions & BackendOptions) => {
      const [{ listOperations }, { runCommand }] = await Promise.all([import('../commands/ops.ts'), context()])
      await runCommand(io, options, (at) => listOperations(at, options))
    })
  withBackendOptions(ops.command('watch <id>'))
    .description('watch a bulk operation until it ends')
    .action(async (id: string, options: ChangeOptions) => {
      const [{ watchOperation }, { runCommand }] = await Promise.all([import('../commands/ops.ts'), context()])
      const what = { id, total: null, sentence: (done: number) => `${done} done` }
      await runCommand(io, options, (at) => watchOperation(at, what, options))
    })
  withDryRun(withBackendOptions(ops.command('cancel <id>')))
    .description('stop a bulk operation; changes it has made stay')
    .action(async (id: string, options: ChangeOptions) => {
      const [{ cancelOperation }, { runCommand }] = await Promise.all([import('../commands/ops.ts'), context()])
      await runCommand(io, options, (at) => cancelOperation(at, id, options))
    })
}

const context = () => import('../command-context.ts')
