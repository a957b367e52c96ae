/** The lines of runs in SQLite, written many at a time; how many a run may have is decided by `engine/run-log.ts`. */
import { type Json, toJsonText } from '../../json.ts'
import type { Clock } from '../../time/clock.ts'
import type { LogLine, LogStore } from '../contract/logs.ts'
import { countWithin } from '../page-bytes.ts'
import { storableText } from '../storable-text.ts'
import type { Connection } from './connection.ts'

const INSERT = `
  insert into everytick_logs (stored_at, run_id, attempt, at, level, message, data) values (?, ?, ?, ?, ?, ?, ?)`
export const READ_LINES = `
  select seq, run_id, attempt, at, level, message, data from everytick_logs
  where run_id = ? and seq > ? order by seq limit ?`

/** Of a text SQLite knows its length without reading it. */
const LINE_SIZES = `
  select octet_length(message) + coalesce(octet_length(data), 0) as size from everytick_logs
  where run_id = ? and seq > ? order by seq limit ?`

interface LineRow extends Pick<LogLine, 'seq' | 'attempt' | 'at' | 'level' | 'message'> {
  readonly run_id: string
  readonly data: string | null
}

export function logStore(connection: Connection, clock: Clock): LogStore {
  return {
    async append(lines) {
      if (lines.length === 0) return
      const ready = lines.map(({ runId, attempt, at, level, message, data }) => {
        const text = data === null ? null : toJsonText(data, { what: 'the data of a line' })
        return [storableText(runId), attempt, at, level, storableText(message), text] as const
      })
      await connection.write(() => {
        const now = clock.now()
        for (const line of ready) connection.run(INSERT, now, ...line)
      }, ready.length)
    },
    async read(runId, { after = 0, limit, maxBytes }) {
      const rows = await connection.read(() => {
        const sizes = maxBytes === undefined ? null : connection.all<{ size: number }>(LINE_SIZES, runId, after, limit)
        const count =
          sizes === null
            ? limit
            : countWithin(
                sizes.map(({ size }) => size),
                maxBytes!,
              )
        return connection.all<LineRow>(READ_LINES, runId, after, count)
      })
      return rows.map(({ run_id, data, ...rest }) => ({
        ...rest,
        runId: run_id,
        data: data === null ? null : (JSON.parse(data) as Json),
      }))
    },
  }
}
