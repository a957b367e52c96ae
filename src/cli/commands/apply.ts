/** `everytick apply`: creates, updates and removes stored schedules to match a file; validates everything before it writes anything. */
import { answer, type JsonOption } from '../answer.ts'
import { askYes } from '../ask-yes.ts'
import { type Backend, type BackendOptions, openBackend, openUpToDateBackend } from '../backend.ts'
import { changesText, type ShownChange } from '../changes-text.ts'
import { closing, type Io } from '../io.ts'
import { listed } from '../listing.ts'
import { printable } from '../print.ts'
import { schedulePath, scheduleText } from '../schedule-name.ts'
import { UsageError } from '../usage-error.ts'
import { type Declared, readDocuments } from './apply-file.ts'
import { type Preview, previewAll } from './apply-preview.ts'

export interface ApplyOptions extends BackendOptions, JsonOption {
  readonly file: string
  readonly tag?: string
  readonly prune?: boolean
  readonly yes?: boolean
  readonly dryRun?: boolean
}

export interface Stored {
  readonly id: string
  readonly workspace: string
  readonly key: string
  readonly revision: number
  readonly warnings?: readonly { readonly text: string }[]
}

export interface Planned {
  readonly declared: readonly Declared[]
  readonly previews: readonly Preview[]
  readonly pruned: readonly Stored[]
}

export async function apply(options: ApplyOptions, io: Io): Promise<void> {
  const { prune = false, tag, dryRun = false } = options
  if (prune !== (tag !== undefined))
    throw new UsageError('--prune needs --tag, and --tag needs --prune: only schedules with the tag are removed')
  const declared = await readDocuments(options.file)
  if (tag !== undefined) refuseUntagged(declared, tag)
  await closing(await (dryRun ? openBackend : openUpToDateBackend)(options), async (backend) => {
    const previews = await previewAll(backend, declared)
    const pruned = tag === undefined ? [] : await surplus(backend, { tag }, previews)
    if (!dryRun && pruned.length > 0) await askYes(io, `removes ${namesOf(pruned)}`, { yes: options.yes ?? false })
    if (!dryRun) await write(backend, { declared, previews, pruned }, io)
    const changes = changesOf({ previews, pruned })
    await answer(changes, { ...options, io }, (all, view) => changesText(all.filter(isChange), view))
    const same = previews.filter(({ action }) => action === 'none').length
    const ended = dryRun ? 'nothing was written' : `${changes.length - same} applied`
    io.note(`${same > 0 ? `${same} unchanged, ` : ''}${ended}\n`)
  })
}

type Removal = Pick<ShownChange, 'workspace' | 'key'> & { readonly action: 'remove' }

/** One entry per schedule, including unchanged ones. */
export const changesOf = ({ previews, pruned }: Omit<Planned, 'declared'>): readonly (Preview | Removal)[] => [
  ...previews,
  ...pruned.map(({ workspace, key }) => ({ workspace, key, action: 'remove' as const })),
]

export const isChange = (each: Preview | Removal): each is Extract<Preview | Removal, ShownChange> =>
  each.action !== 'none'

/** A later run could never prune a schedule that the file does not tag now. */
function refuseUntagged(declared: readonly Declared[], tag: string): void {
  const without = declared.find(({ body: { tags } }) => !(Array.isArray(tags) && tags.includes(tag)))
  if (without)
    throw new UsageError(`${without.place} does not have the tag ${tag}`, {
      hint: 'with --prune, every schedule in the file must have the tag',
    })
}

/** Stored schedules that have the tag and are not in the file, except those declared in code, which only sync removes. */
export async function surplus(
  backend: Backend,
  among: { readonly tag: string; readonly workspace?: string },
  wanted: readonly Preview[],
): Promise<readonly Stored[]> {
  const limit = Number.POSITIVE_INFINITY
  const { items } = await listed<Stored>(backend, '/schedules', { query: { ...among, source: 'api' }, limit })
  const names = new Set(wanted.map(({ workspace, key }) => JSON.stringify([workspace, key])))
  return items.filter(({ workspace, key }) => !names.has(JSON.stringify([workspace, key])))
}

const MAX_NAMED = 5

export function namesOf(some: readonly Stored[]): string {
  const names = some.slice(0, MAX_NAMED).map(scheduleText)
  return [...names, ...(some.length > MAX_NAMED ? [`${some.length - MAX_NAMED} more`] : [])].join(', ')
}

export async function write(backend: Backend, { declared, previews, pruned }: Planned, io: Io): Promise<void> {
  const puts = previews.flatMap((preview, i) =>
    preview.action === 'none' ? [] : [{ preview, body: declared[i]!.body }],
  )
  const all = puts.length + pruned.length
  let done = 0
  try {
    for (const { preview, body } of puts) {
      const { key: _key, workspace: _workspace, ...definition } = body
      const { warnings = [] } = await backend.ask<Stored>('PUT', schedulePath(preview), { body: definition })
      for (const { text } of warnings) io.note(`⚠ ${printable(`${scheduleText(preview)}: ${text}`)}\n`)
      done += 1
    }
    for (const { id, revision } of pruned) {
      await backend.ask('DELETE', `/schedules/${id}`, { headers: { 'if-match': `"${revision}"` } })
      done += 1
    }
  } catch (error) {
    if (done > 0) io.note(`${done} of ${all} changes were written; fix this and apply the file again\n`)
    throw error
  }
}
