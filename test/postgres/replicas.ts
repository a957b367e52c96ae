/** A primary server and a streaming standby behind one address, which a failover moves; what is written meanwhile is the tests' own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { AS_NOBODY, ended, freePort, GUARD, nativeFolder, started, stopped } from './launcher.ts'

export interface Replicas {
  /** Leads to the primary, and after a failover to the standby that was promoted. */
  readonly url: string
  readonly standbyUrl: string
  /** Names both servers, the one that is the primary at first in front. */
  readonly bothUrl: string
  /** Resolves when the standby has applied everything that the primary has written. */
  caughtUp(): Promise<void>
  /** From here on the standby receives nothing; what it has, it keeps. */
  cutReplication(): Promise<void>
  /** Kills the primary unless it is to be kept running, promotes the standby, and moves the address there. */
  failOver(options?: { readonly keepPrimary: boolean }): Promise<void>
  /** Moves the address to the server that was the primary at first, and cuts all connections. */
  backToOldPrimary(): void
  /** Starts the killed primary again, which does not know that it was replaced. */
  startOldPrimary(): Promise<void>
  /** Kills the promoted standby, and returns what starts it again. */
  stopPromoted(): Promise<() => Promise<void>>
  stop(): Promise<void>
}

const SETTINGS = {
  ...{ unix_socket_directories: '', listen_addresses: '127.0.0.1', max_connections: '100', wal_level: 'replica' },
  // A killed process loses nothing that it has handed to the operating system.
  fsync: 'off',
}

export async function startReplicas({ synchronous }: { readonly synchronous: boolean }): Promise<Replicas> {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-replicas-'))
  if (AS_NOBODY.uid) chownSync(folder, AS_NOBODY.uid, AS_NOBODY.gid)
  const bin = join(nativeFolder(folder), 'bin')
  const [data, copy] = [join(folder, 'primary'), join(folder, 'standby')]
  const initial = ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '--locale=C', '-E', 'UTF8']
  await ended(spawn(join(bin, 'initdb'), initial, { ...AS_NOBODY, stdio: ['ignore', 'ignore', 'pipe'] }))
  const [port, standbyPort] = [await freePort(), await freePort()]
  // A cluster that never ran is a whole copy of itself.
  await ended(spawn('cp', ['-a', data, copy], { ...AS_NOBODY, stdio: ['ignore', 'ignore', 'pipe'] }))
  const source = `host=127.0.0.1 port=${port} user=postgres application_name=standby`
  writeFileSync(join(copy, 'standby.signal'), '')
  writeFileSync(join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`)
  if (AS_NOBODY.uid)
    for (const name of ['standby.signal', 'postgresql.auto.conf'])
      chownSync(join(copy, name), AS_NOBODY.uid, AS_NOBODY.gid)
  const start = (path: string, on: number, settings: Record<string, string>): Promise<ChildProcess> => {
    const flags = Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const guard = spawn(process.execPath, ['-e', GUARD, folder], { stdio: ['pipe', 'ignore', 'ignore'] })
    guard.stdin.on('error', () => {})
    guard.unref()
    const child = spawn(join(bin, 'postgres'), ['-D', path, '-p', String(on), ...flags], {
      ...AS_NOBODY,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    guard.stdin.write(`${child.pid}\n`)
    child.once('exit', () => guard.kill())
    return started(child)
  }
  let primary = await start(data, port, {})
  let standby = await start(copy, standbyPort, {})
  const address = (on: number): string => `postgres://postgres@127.0.0.1:${on}/postgres`
  const front = await openFront(port)
  const onPrimary = new pg.Client({ connectionString: address(port) })
  const onStandby = new pg.Client({ connectionString: address(standbyPort) })
  for (const client of [onPrimary, onStandby]) {
    client.on('error', () => {})
    await client.connect()
  }
  const textOf = async (client: pg.Client, sql: string): Promise<unknown> =>
    (await client.query({ text: `select (${sql})::text as value` })).rows[0].value
  const until = async (client: pg.Client, sql: string): Promise<void> => {
    while ((await textOf(client, sql)) !== 'true') await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const set = async (client: pg.Client, setting: string): Promise<void> => {
    await client.query(`alter system set ${setting}`)
    await client.query('select pg_reload_conf()')
  }
  const caughtUp = async (): Promise<void> => {
    const position = await textOf(onPrimary, 'pg_current_wal_insert_lsn()')
    await until(onStandby, `pg_last_wal_replay_lsn() >= '${position}'`)
  }
  await until(onPrimary, `exists (select from pg_stat_replication where state = 'streaming')`)
  if (synchronous) {
    await set(onPrimary, `synchronous_standby_names = 'standby'`)
    await until(onPrimary, `exists (select from pg_stat_replication where sync_state = 'sync')`)
  }
  return {
    url: address(front.port),
    standbyUrl: address(standbyPort),
    bothUrl: `postgres://postgres@127.0.0.1:${port},127.0.0.1:${standbyPort}/postgres?target_session_attrs=read-write`,
    caughtUp,
    async cutReplication() {
      await set(onStandby, `primary_conninfo = ''`)
      await until(onStandby, 'not exists (select from pg_stat_wal_receiver)')
    },
    async failOver({ keepPrimary } = { keepPrimary: false }) {
      if (!keepPrimary) await stopped(primary, 'SIGQUIT')
      await onStandby.query('select pg_promote()')
      front.moveTo(standbyPort)
    },
    backToOldPrimary: () => front.moveTo(port),
    async startOldPrimary() {
      primary = await start(data, port, {})
    },
    async stopPromoted() {
      await stopped(standby, 'SIGQUIT')
      return async () => {
        standby = await start(copy, standbyPort, {})
      }
    },
    async stop() {
      await Promise.allSettled([onPrimary.end(), onStandby.end()])
      front.close()
      await Promise.all([stopped(primary, 'SIGQUIT'), stopped(standby, 'SIGQUIT')])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface Front {
  readonly port: number
  moveTo(port: number): void
  close(): void
}

/** The address: hands connections on, and cuts all of them when it moves. */
async function openFront(first: number): Promise<Front> {
  let target = first
  const sockets = new Set<Socket>()
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    port,
    moveTo(next) {
      target = next
      cut()
    },
    close() {
      server.close()
      cut()
    },
  }
}
