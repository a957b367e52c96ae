/** Opens the client of AWS when the first message is sent, from what was given; one that the user made is used as it is. */
import type { SendMessageCommandInput, SQSClientConfig } from '@aws-sdk/client-sqs'
import { loadPeer } from '../peer.ts'

/** What the target uses of an SQSClient. */
export interface SqsClient {
  send(command: never, options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>
}

export interface Sent {
  readonly MessageId?: string | undefined
  readonly SequenceNumber?: string | undefined
}

export type Send = (input: SendMessageCommandInput, abortSignal: AbortSignal) => Promise<Sent>

export const isClient = (given: SqsClient | SQSClientConfig): given is SqsClient =>
  'send' in given && typeof given.send === 'function'

/** The address of a queue names the region, unless it is none of Amazon's. */
export const regionOf = ({ hostname }: URL): string | undefined =>
  /(?:^|\.)sqs(?:-fips)?\.([a-z0-9-]+)\.(?:api\.aws|(?:vpce\.)?amazonaws\.com(?:\.cn)?)$/.exec(hostname)?.[1] ??
  /^([a-z0-9-]+)\.queue\.amazonaws\.com(?:\.cn)?$/.exec(hostname)?.[1]

export function sender(queueUrl: URL, given: SqsClient | SQSClientConfig): Send {
  let opening: Promise<Send> | null = null
  const open = async (): Promise<Send> => {
    const load = () => import('@aws-sdk/client-sqs')
    const { SQSClient, SendMessageCommand } = await loadPeer({ name: '@aws-sdk/client-sqs', for: 'sqs()', load })
    const region = regionOf(queueUrl)
    const config = { endpoint: queueUrl.origin, ...(region === undefined ? {} : { region }) }
    const client = (isClient(given) ? given : new SQSClient({ ...config, ...given })) as InstanceType<typeof SQSClient>
    return (input, abortSignal) => client.send(new SendMessageCommand(input), { abortSignal })
  }
  return async (input, abortSignal) => {
    opening ??= open()
    // Whatever was in the way may be gone with the next message.
    const send = await opening.catch((error: unknown) => {
      opening = null
      throw error
    })
    return send(input, abortSignal)
  }
}
