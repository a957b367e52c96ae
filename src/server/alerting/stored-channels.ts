/** Finds the channels for an alert: those of its workspace and of the fleet, each with its own cap, so that no workspace crowds out another. */
import type { DocumentStore } from '../../store/contract/documents.ts'
import { capOf } from './caps.ts'
import { type Channel, channelOf } from './channel.ts'

/** The newest channels of one owner. */
export async function channelsOf(documents: DocumentStore, owner: string): Promise<Channel[]> {
  return (await documents.list('channel', { workspace: owner, limit: capOf(owner).channels })).map(channelOf)
}

export async function channelsFor(documents: DocumentStore, workspace: string): Promise<Channel[]> {
  const fleet = await channelsOf(documents, '')
  return workspace === '' ? fleet : [...fleet, ...(await channelsOf(documents, workspace))]
}
