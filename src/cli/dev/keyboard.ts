/** What the keys of `dev` do: each asks the running server, as any other client would, and prints what it answers. */
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

/** Answers what to do with each piece of what is typed. */
export function keyboard(deeds: Deeds): (typed: string) => void {
  const { view, write } = deeds
  /** While a number is asked for: what was listed, and the digits so far. */
  let asking: { readonly schedules: readonly Listed[]; digits: string } | null = null
  const told = (work: Promise<void>): void =>
    void work.catch((error: unknown) =>
      write(`  ${printable(error instanceof Error ? error.message : String(error))}\n`),
    )

  const ask = async (): Promise<void> => {
    const schedules = await listed(deeds.backend)
    const names = schedules.map(({ workspace, key }, i) => `${i + 1} ${printable(qualified(workspace, key))}`)
    if (names.length === 0) write('  there is no schedule to trigger\n')
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

/** A project on a laptop has few; more than these nobody wants to read. */
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
  write(rows.length === 0 ? '  nothing is to come\n' : rowsText(['SCHEDULE', 'NEXT', 'IN'], rows, view))
}

function openBrowser({ url, write }: Deeds): void {
  const [program, ...args] = openerOf(process.platform)
  const child = spawn(program!, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => write(`  no browser could be opened; the address is ${url}\n`))
  child.unref()
}

/** `start` takes its first quoted word for a title. */
const openerOf = (platform: string): readonly string[] =>
  platform === 'darwin' ? ['open'] : platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open']
