/** Refuses a channel or rule beyond the cap of its owner; `caps.ts` defines the caps. */
import { kindOfDefault } from '../../observe/alert-rule.ts'
import type { DocumentStore } from '../../store/contract/documents.ts'
import { Refusal } from '../problem.ts'
import { type Caps, capOf } from './caps.ts'
import { storedRules } from './rules.ts'
import { channelsOf } from './stored-channels.ts'

const COUNT: { readonly [Name in 'channels' | 'rules']: (of: DocumentStore, owner: string) => Promise<number> } = {
  channels: async (documents, owner) => (await channelsOf(documents, owner)).length,
  rules: async (documents, owner) =>
    (await storedRules(documents, owner)).filter(({ id }) => kindOfDefault(id) === undefined).length,
}

export async function checkCap(
  documents: DocumentStore,
  quota: keyof typeof COUNT & keyof Caps,
  owner: string,
): Promise<void> {
  const most = capOf(owner)[quota]
  if ((await COUNT[quota](documents, owner)) < most) return
  const whose = owner === '' ? 'the fleet' : `workspace "${owner}"`
  throw new Refusal('QUOTA_REACHED', `${whose} has ${most} ${quota}, which is the limit`, {
    hint: 'remove one that you no longer need',
  })
}
