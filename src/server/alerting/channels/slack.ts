/** Tells people in Slack, or in anything that takes the same JSON; its address is the secret. */
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

/** So that a name in a title can neither call everybody nor pose as a link. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
