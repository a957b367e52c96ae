/** Posts to Slack, or any service that accepts the same JSON; the URL is the secret. */
import { type HttpSending, httpSend } from '../http-send.ts'
import { linesOf, type Send } from '../message.ts'
import { deliveryOf } from './answer.ts'

export interface SlackConfig {
  readonly kind: 'slack'
  readonly url: string
}

export function slack({ url }: SlackConfig, { allowPrivate }: Pick<HttpSending, 'allowPrivate'>): Send {
  return async (outgoing) => {
    const [first = '', ...rest] = linesOf(outgoing).map(escaped)
    const body = JSON.stringify({ text: [`*${first}*`, ...rest].join('\n') })
    const headers = { 'content-type': 'application/json' }
    return deliveryOf(await httpSend({ url, method: 'POST', headers, body, allowPrivate }))
  }
}

/** Escapes Slack markup, so that a name in a title cannot mention a channel or fake a link. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
