/** Ends the processes of commands when this process is gone without having done so itself: a small shell beside us that notices when its input ends. */
import { type ChildProcess, spawn } from 'node:child_process'

export interface Watchdog {
  /** It is there: to be asked before a process is begun, so that telling of it takes no time. */
  wake(): void
  /** The group is ended should we be gone before it is forgotten. */
  watch(group: number): void
  forget(group: number): void
}

/** Less than a lease: by then another worker may begin the run again. */
const GRACE_SECONDS = 5
/** It is told line by line, keeps what it was told in a list, and acts when nobody is there to tell it more. */
const SCRIPT = `
trap '' HUP INT TERM
groups=' '
while read -r verb group; do
  left=' '
  for each in $groups; do
    if [ "$each" != "$group" ]; then left="$left$each "; fi
  done
  if [ "$verb" = watch ]; then left="$left$group "; fi
  groups=$left
done
if [ "$groups" = ' ' ]; then exit; fi
for each in $groups; do kill -s TERM -- "-$each"; done
sleep ${GRACE_SECONDS}
for each in $groups; do kill -s KILL -- "-$each"; done
`

export function createWatchdog(): Watchdog {
  const groups = new Set<number>()
  let shell: ChildProcess | null = null

  const tell = (verb: 'watch' | 'forget', group: number): void => {
    shell?.stdin?.write(`${verb} ${group}\n`)
  }
  const begin = (): void => {
    const begun = spawn('/bin/sh', ['-c', SCRIPT], {
      // A session of its own: what is said to our group at a terminal is not meant for it.
      ...{ detached: true, stdio: ['pipe', 'ignore', 'ignore'], cwd: '/', env: { PATH: '/usr/bin:/bin' } },
    })
    shell = begun
    // Where there is no shell, or somebody ended it, commands are executed all the same; the next one tries again.
    const gone = (): void => {
      if (shell === begun) shell = null
    }
    begun.once('error', gone).once('exit', gone)
    // Nor is there one where no descriptors are left.
    begun.stdin?.on('error', gone)
    // Nobody waits for it.
    begun.unref()
    ;(begun.stdin as unknown as { unref(): void } | undefined)?.unref()
    for (const group of groups) tell('watch', group)
  }

  return {
    wake() {
      if (!shell) begin()
    },
    watch(group) {
      groups.add(group)
      tell('watch', group)
    },
    forget(group) {
      groups.delete(group)
      tell('forget', group)
    },
  }
}
