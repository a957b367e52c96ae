/** Writes one log line per message to the log of the sending process. */
import type { Logger } from '../../../observe/logger.ts'
import { headline, type Send } from '../message.ts'

export interface LogConfig {
  readonly kind: 'log'
}

export function log(_: LogConfig, { logger }: { readonly logger: Logger }): Send {
  return async ({ messages }) => {
    for (const message of messages) {
      const { id, alert, event } = message
      const level = event === 'resolved' || event === 'test' || alert.severity === 'info' ? 'info' : 'warn'
      const { workspace, ruleId, subject, values } = alert
      logger[level](`alert ${headline(message)}`, { id, alert: alert.id, rule: ruleId, workspace, subject, ...values })
    }
    return { ok: true }
  }
}
