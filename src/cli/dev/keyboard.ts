/** The keys of `dev`: each sends a request to the running server and prints the response. */
import { spawn } from 'node:child_process'
import { type Backend, segment } from '../backend.ts'
import { distanceText } from '../instant-text.ts'
import { printable, rowsText, type View } from '../print.ts'
import { clockText, qualified } from './line-text.ts'

export interface Deeds {
  readonly backend: Backend
  readonly url: string
  readonly view: View
  write(text: string): void
  forward(): Promise<void>
  quit(): void
}

interface Listed {
  readonly id: string
  readonly workspace: string
  readonly key: string
  readonly nextDueAt: string | null
}

const CTRL_C = '\u0003'
const ENTER = /[\r\n]/
const SHOWN = 20

/** Returns a handler for typed input. */
export function keyboard(deeds: Deeds): (typed: string) => void {
  const { view, write } = deeds
  /** While the user types a number: the listed schedules, and the digits so far. */
  let asking: { readonly schedules: readonly Listed[]; digits: string } | null = null
  const told = (work: Promise<void>): void =>
    void work.catch((error: unknown) =>
      write(`  ${printable(error instanceof Error ? error.message : String(error))}\n`),
    )

  const ask = async (): Promise<void> => {
    const schedules = await listed(deeds.backend)
    const names = schedules.map(({ workspace, key }, i) => `${i + 1} ${printable(qualified(workspace, key))}`)
    if (names.length === 0) write('  no schedules to trigger\n')
    else write(`  trigger which?  ${names.join(' · ')}   ${view.colours.dim('number and Enter')}\n  `)
    if (names.length > 0) asking = { schedules, digits: '' }
  }
  const answer = async (key: string): Promise<void> => {
    if (!asking) return
    if (/\d/.test(key)) {
      asking.digits += key
      write(key)
      return
    }
    const { schedules, digits } = asking
    asking = null
    const chosen = ENTER.test(key) ? schedules[Number(digits) - 1] : undefined
    write(chosen ? '\n' : '  nothing triggered\n')
    if (chosen) await deeds.backend.ask('POST', `/schedules/${segment(chosen.id)}/trigger`, { body: {} })
  }
  const press = (key: string): void => {
    if (key === CTRL_C || (key === 'q' && !asking)) deeds.quit()
    else if (asking) told(answer(key))
    else if (key === 'd') openBrowser(deeds)
    else if (key === 't') told(ask())
    else if (key === 'n') told(showNext(deeds))
    else if (key === 'f') told(deeds.forward())
  }
  return (typed) => {
    for (const key of typed) press(key)
  }
}

/** Maximum number of schedules shown: a project on a laptop has few. */
const MAX_LISTED = 200

async function listed(backend: Backend): Promise<readonly Listed[]> {
  const query = { limit: MAX_LISTED }
  return (await backend.ask<{ data: readonly Listed[] }>('GET', '/schedules', { query })).data
}

async function showNext({ backend, view, write }: Deeds): Promise<void> {
  const [schedules, { at }] = await Promise.all([listed(backend), backend.ask<{ at: string }>('GET', '/overview')])
  const now = Date.parse(at)
  const coming = schedules
    .flatMap(({ workspace, key, nextDueAt }) =>
      nextDueAt === null ? [] : { name: qualified(workspace, key), dueAt: Date.parse(nextDueAt) },
    )
    .sort((a, b) => a.dueAt - b.dueAt)
    .slice(0, SHOWN)
  const rows = coming.map(({ name, dueAt }) => [name, clockText(dueAt), distanceText(Math.max(0, dueAt - now))])
  write(rows.length === 0 ? '  no upcoming fires\n' : rowsText(['SCHEDULE', 'NEXT', 'IN'], rows, view))
}

function openBrowser({ url, write }: Deeds): void {
  const [program, ...args] = openerOf(process.platform)
  const child = spawn(program!, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => write(`  cannot open a browser; open ${url}\n`))
  child.unref()
}

/** Windows `start` treats its first quoted argument as a title. */
const openerOf = (platform: string): readonly string[] =>
  platform === 'darwin' ? ['open'] : platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open']
