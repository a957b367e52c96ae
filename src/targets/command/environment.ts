/** Decides what a process finds in its environment: little, the same everywhere, and nothing of ours that was not meant for it. */
import { userInfo } from 'node:os'
import { delimiter, dirname } from 'node:path'
import type { JobContext } from '../../engine/context.ts'
import { checkKeys, readList, readText, refused } from '../../options.ts'

export type Environment = Readonly<Record<string, string>>
/** As `process.env` is; what is undefined is not there. */
export type EnvironmentOption = Readonly<Record<string, string | undefined>>

/** Where programs usually stand, and the Node that runs us with the programs beside it. */
const PLACES = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
const MAX_VARIABLES = 1000
const MAX_VALUE = 128 * 1024

export function readEnvironment(given: unknown, of: string): Environment {
  const said = given ?? {}
  checkKeys(said, Object.keys(said), `${of}: env`)
  const all = Object.entries(said).filter(([, value]) => value !== undefined)
  readList(all, `${of}: env`, [0, MAX_VARIABLES])
  for (const [name, value] of all) {
    if (name === '' || /[=\0]/.test(name)) throw refused(`${of}: env has a name that no environment can hold`)
    // The value is not shown: it may be a secret.
    if (readText(value, `${of}: env.${name}`, MAX_VALUE).includes('\0')) throw refused(`${of}: env.${name} holds a NUL`)
  }
  return Object.freeze(Object.fromEntries(all) as Record<string, string>)
}

/** What is there without anybody's saying, as cron has it. */
function plain(): Environment {
  const path = [...new Set([dirname(process.execPath), ...PLACES])].join(delimiter)
  return { PATH: path, LANG: 'C.UTF-8', ...user() }
}

function user(): Environment {
  try {
    const { username, shell, homedir } = userInfo()
    return { HOME: homedir, USER: username, LOGNAME: username, SHELL: shell || '/bin/sh' }
  } catch {
    // In a container a number may have neither name nor home.
    return { HOME: '/', SHELL: '/bin/sh' }
  }
}

/** Facts of the run come last, so that nothing can pretend to be one. */
export const environmentOf = (said: Environment, ctx: RunFacts): Environment => ({
  ...plain(),
  ...said,
  ...factsOf(ctx),
})

export type RunFacts = Pick<JobContext, 'run' | 'workspace' | 'schedule' | 'slot'>

function factsOf({ run, workspace, schedule, slot }: RunFacts): Environment {
  return {
    EVERYTICK_RUN: run.id,
    EVERYTICK_ATTEMPT: String(run.attempt),
    EVERYTICK_FENCE: String(run.fence),
    EVERYTICK_TRIGGER: run.trigger,
    EVERYTICK_WORKSPACE: workspace,
    ...(schedule && { EVERYTICK_SCHEDULE: schedule.key }),
    ...(run.scheduledAt && { EVERYTICK_SCHEDULED_AT: run.scheduledAt.toISOString() }),
    ...(slot?.start && { EVERYTICK_SLOT_START: slot.start.toISOString() }),
    ...(slot && { EVERYTICK_SLOT_END: slot.end.toISOString() }),
  }
}
