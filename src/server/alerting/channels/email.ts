/** Tells people by e-mail over SMTP; the mail server's name is resolved once and checked like any other address that somebody typed. */
import { isIP } from 'node:net'
import { EverytickError } from '../../../errors.ts'
import { createGuard } from '../../../targets/guard/guard.ts'
import { type HttpSending, refusedWords } from '../http-send.ts'
import { type Delivery, linesOf, type Send, subjectOf } from '../message.ts'

export interface EmailConfig {
  readonly kind: 'email'
  readonly host: string
  readonly port: number
  /** Whether the connection is encrypted from its first byte; otherwise as soon as the server offers it. */
  readonly secure: boolean
  readonly user: string | null
  readonly password: string | null
  readonly from: string
  readonly to: readonly string[]
}

const TIMEOUT_MS = 10_000

export function email(config: EmailConfig, { allowPrivate }: Pick<HttpSending, 'allowPrivate'>): Send {
  const guard = createGuard({ allowPrivate })
  return async (outgoing): Promise<Delivery> => {
    const { host, port, secure, user, password, from, to } = config
    try {
      const [first] = await guard.addresses({ host, port: String(port) }, AbortSignal.timeout(TIMEOUT_MS))
      // Loaded when the first mail is sent: most servers send none.
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({
        host: first!.address,
        port,
        secure,
        // A password goes over an encrypted connection or not at all.
        requireTLS: password !== null && !secure,
        // The certificate is the name's, though the connection goes to the address that was checked.
        ...(isIP(host) ? {} : { tls: { servername: host } }),
        connectionTimeout: TIMEOUT_MS,
        greetingTimeout: TIMEOUT_MS,
        socketTimeout: TIMEOUT_MS,
        ...(user === null ? {} : { auth: { user, pass: password ?? '' } }),
      })
      try {
        await transport.sendMail({
          from,
          to: [...to],
          subject: subjectOf(outgoing),
          text: linesOf(outgoing).join('\n'),
          // The same whenever it is sent again, so that mail programs show it once.
          messageId: `<${outgoing.id}@everytick>`,
          disableFileAccess: true,
          disableUrlAccess: true,
        })
      } finally {
        transport.close()
      }
      return { ok: true }
    } catch (error) {
      return { ok: false, error: reasonOf(error) }
    }
  }
}

/** What the mail server said may quote the password; its code and the kind of failure do not. */
function reasonOf(error: unknown): string {
  if (error instanceof EverytickError) return refusedWords(error)
  const { code, responseCode, name } = error as { code?: unknown; responseCode?: unknown; name?: unknown }
  if (name === 'TimeoutError') return 'the request timed out'
  const words = [code, responseCode].filter((each) => typeof each === 'string' || typeof each === 'number').join(' ')
  return `the mail server rejected the message${words === '' ? '' : `: ${words}`}`
}
