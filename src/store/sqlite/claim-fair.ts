/** Claims from a queue to several workspaces in turn, in equal shares; who may be claimed how much in all is the caller's. */
import type { Connection } from './connection.ts'
import type { Running } from './queue-settings.ts'

/** Workspaces that share one claim. */
export const SHARES = 32
/** Workspaces that are looked at for something due; most of them may have all of it still to come. */
const SCANS = 1000

const PENDING = `select workspace from everytick_runs where state = 'pending' and readiness = 'ready' and queue = ?`

/** From one workspace to the next by the index; `bound` says where it ends. The limit that is none has `due` asked once only. */
const dueAfter = (bound: string): string => `
  with recursive walk(workspace, n) as (
    select (${PENDING} and workspace > ? ${bound} order by workspace limit 1), 1
    union all
    select (${PENDING} and workspace > walk.workspace ${bound} order by workspace limit 1), n + 1
    from walk where walk.workspace is not null and n < ${SCANS})
  select workspace, due, n = ${SCANS} as ended from (
    select workspace, n, workspace not in (select value from json_each(?)) and exists (
      select 1 from everytick_runs r
      where r.state = 'pending' and r.readiness = 'ready' and r.queue = ? and r.workspace = walk.workspace
        and r.priority in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9) and r.due_at <= ?) as due
    from walk where workspace is not null limit -1)
  where due or n = ${SCANS}
  limit ?`
export const DUE_AFTER = dueAfter('')
export const DUE_UP_TO = dueAfter('and workspace <= ?')

export interface Shared {
  readonly queue: string
  readonly limit: number
  readonly lastWorkspace: string | undefined
  readonly perWorkspace: number
  readonly running: Running
  readonly now: number
}

/** In the order of their turns, and at whom the look ended when others may stand behind. */
interface Line {
  readonly workspaces: readonly string[]
  readonly endedAt: string | null
}

function lineOf(connection: Connection, { queue, lastWorkspace, perWorkspace, running, now }: Shared): Line {
  const full = JSON.stringify([...running].flatMap(([workspace, count]) => (count >= perWorkspace ? [workspace] : [])))
  const workspaces: string[] = []
  let endedAt: string | null = null
  const look = (text: string, values: readonly string[]): void => {
    const places = SHARES - workspaces.length
    const rows = connection.all<ScanRow>(text, ...values, full, queue, now, places)
    for (const { workspace, due, ended } of rows) {
      if (due === 1) workspaces.push(workspace)
      if (ended === 1 || workspaces.length === SHARES) endedAt = workspace
    }
  }
  look(DUE_AFTER, [queue, lastWorkspace ?? '', queue])
  if (lastWorkspace !== undefined && endedAt === null) look(DUE_UP_TO, [queue, '', lastWorkspace, queue, lastWorkspace])
  return { workspaces, endedAt }
}

interface ScanRow {
  readonly workspace: string
  readonly due: number
  readonly ended: number
}

export interface FairShare {
  /** Who had the last turn. */
  readonly last: string | undefined
  /** Not claimed, though others may have something due. */
  readonly left: number
}

/** `take` chooses up to so many of one workspace and answers how many there were; what some do not need goes to the others. */
export function claimFair(
  connection: Connection,
  shared: Shared,
  take: (workspace: string, limit: number) => number,
): FairShare {
  const { workspaces, endedAt } = lineOf(connection, shared)
  let { limit: left, lastWorkspace } = shared
  let line = workspaces.map((workspace) => {
    return { workspace, room: shared.perWorkspace - (shared.running.get(workspace) ?? 0) }
  })
  const isLast = (workspace: string): boolean => workspace === workspaces.at(-1)
  let ended = line.length === 0
  while (left > 0 && line.length > 0) {
    const share = Math.max(1, Math.floor(left / line.length))
    const next: typeof line = []
    for (const { workspace, room } of line) {
      if (left <= 0) break
      const wanted = Math.min(share, left, room)
      const granted = take(workspace, wanted)
      left -= granted
      lastWorkspace = workspace
      ended ||= isLast(workspace)
      if (granted === wanted && room > granted) next.push({ workspace, room: room - granted })
    }
    line = next
  }
  // Others may stand behind those that were looked at, and come first when all of these had their turn.
  return endedAt === null ? { last: lastWorkspace, left: 0 } : { last: ended ? endedAt : lastWorkspace, left }
}
