/** Lets one process at a time set up this clone; what is done under the lock, and whether it is still needed, the caller decides. */
import { mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const POLL_MS = 100
const RENEWAL_MS = 2_000
/** A holder whose beat does not move for so long while we watch has stopped, whatever its process id says. */
const SILENCE_MS = 30_000

/** Runs `work` alone in this clone; `onWait` is told the process id of the one ahead, once. */
export async function alone(root, work, onWait) {
  // `.everytick` is ignored by git and by the linter, and `npm ci` does not wipe it as it wipes node_modules.
  const folder = join(root, '.everytick')
  const lock = join(folder, 'set-up.lock')
  const id = `${process.pid}-${Math.random().toString(36).slice(2)}`
  const buried = await acquire({ folder, lock, id, onWait })
  const renew = setInterval(() => touch(lock), RENEWAL_MS)
  renew.unref()
  try {
    return await work()
  } finally {
    clearInterval(renew)
    release({ folder, lock, id, buried })
  }
}

async function acquire({ folder, lock, id, onWait }) {
  const buried = []
  let told = false
  let watched = { renew: '', forMs: 0 }
  let refusals = 0
  for (;;) {
    const refusal = take({ folder, lock, id })
    if (refusal === null) return buried
    const holder = readHolder(lock)
    if (holder === null) {
      // Released between our two looks, or the folder cannot be written at all: many in a row mean the latter.
      if ((refusals += 1) > 20) throw refusal
    } else {
      refusals = 0
      const same = holder.renew === watched.renew
      watched = { renew: holder.renew, forMs: same ? watched.forMs + POLL_MS : 0 }
      if (hasDied(holder) || watched.forMs > SILENCE_MS) bury({ folder, lock, holder, buried })
      else if (!told) {
        onWait(holder.pid)
        told = true
      }
    }
    await pause(POLL_MS)
  }
}

/**
 * Answers null on success, else why not. The lock appears together with its owner's name: a folder is made aside and
 * renamed into place, which fails while another is there.
 */
function take({ folder, lock, id }) {
  const aside = join(folder, `claim-${id}`)
  try {
    mkdirSync(aside, { recursive: true })
    writeFileSync(join(aside, 'owner.json'), JSON.stringify({ id, pid: process.pid, host: hostname() }))
    renameSync(aside, lock)
    return null
  } catch (error) {
    rmSync(aside, { recursive: true, force: true })
    return error
  }
}

function readHolder(lock) {
  try {
    const owner = JSON.parse(readFileSync(join(lock, 'owner.json'), 'utf8'))
    return { ...owner, renew: `${owner.id} ${statSync(lock).mtimeMs}` }
  } catch (error) {
    if (error.code === 'ENOENT') return null
    throw error
  }
}

function hasDied({ pid, host }) {
  if (host !== hostname()) return false // a process id means nothing on another machine or in another container
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

/**
 * Moves a dead holder's lock to a grave named after that holder. The grave stays until our own release: a second
 * process that judged the same holder dead then finds the name taken and cannot carry off the lock we made since.
 */
function bury({ folder, lock, holder, buried }) {
  const grave = join(folder, `grave-${holder.id}`)
  try {
    renameSync(lock, grave)
    buried.push(grave)
  } catch (error) {
    // Somebody else buried it first; the next look tells what there is now.
    if (!['ENOTEMPTY', 'EEXIST', 'EPERM', 'ENOENT'].includes(error.code)) throw error
  }
}

function release({ folder, lock, id, buried }) {
  const aside = join(folder, `done-${id}`)
  if (readHolder(lock)?.id === id) renameSync(lock, aside)
  for (const path of [aside, ...buried]) rmSync(path, { recursive: true, force: true })
  try {
    rmdirSync(folder)
  } catch {
    // not empty: a database or another process's claim lives there
  }
}

function touch(lock) {
  const now = new Date()
  try {
    utimesSync(lock, now, now)
  } catch {
    // a missed beat is harmless; thirty seconds of them are what the others look for
  }
}
