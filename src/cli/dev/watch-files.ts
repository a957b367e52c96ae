/** Reports changes of a growing set of files. Watches folders, because editors replace files instead of writing to them. */
import { existsSync, type FSWatcher, watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { systemTimers } from '../../time/timers.ts'

export interface WatchedFiles {
  add(path: string): void
  close(): void
}

/** Debounce, because editors write in several steps. */
const CALM_MS = 120

export function watchFiles(onChange: (path: string) => void): WatchedFiles {
  const folders = new Map<string, { readonly names: Set<string>; readonly watcher: FSWatcher }>()
  let forget = (): void => {}

  const changed = (path: string): void => {
    forget()
    forget = systemTimers.set(CALM_MS, () => onChange(path))
  }

  return {
    add(path) {
      const file = resolve(path)
      const folder = dirname(file)
      const known = folders.get(folder)
      if (known) return void known.names.add(basename(file))
      if (!existsSync(folder)) return
      const names = new Set([basename(file)])
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name !== null && names.has(name)) changed(resolve(folder, name))
      })
      watcher.on('error', () => {})
      folders.set(folder, { names, watcher })
    },
    close() {
      forget()
      for (const { watcher } of folders.values()) watcher.close()
    },
  }
}
