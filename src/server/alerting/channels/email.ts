/** Sends e-mail over SMTP. Resolves the mail server's name once, and checks the address like any other user-supplied one. */
import { isIP } from 'node:net'
import { EverytickError } from '../../../errors.ts'
import { createGuard } from '../../../targets/guard/guard.ts'
import { type HttpSending, refusedWords } from '../http-send.ts'
import { type Delivery, linesOf, type Send, subjectOf } from '../message.ts'

export interface EmailConfig {
  readonly kind: 'email'
  readonly host: string
  readonly port: number
  /** Whether the connection starts with TLS; otherwise STARTTLS is used if the server offers it. */
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
      // Loaded with the first mail: most servers send none.
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({
        host: first!.address,
        port,
        secure,
        // With a password, TLS is required.
        requireTLS: password !== null && !secure,
        // The connection goes to the checked address, but the certificate is for the name.
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
          // Stable across retries, so that mail programs show it once.
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

/** Only codes: the message of a mail server may quote the password. */
function reasonOf(error: unknown): string {
  if (error instanceof EverytickError) return refusedWords(error)
  const { code, responseCode, name } = error as { code?: unknown; responseCode?: unknown; name?: unknown }
  if (name === 'TimeoutError') return 'the request timed out'
  const words = [code, responseCode].filter((each) => typeof each === 'string' || typeof each === 'number').join(' ')
  return `the mail server rejected the message${words === '' ? '' : `: ${words}`}`
}
