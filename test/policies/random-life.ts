/** Random lives of schedules: what an operator, a deploy, a slow job and a crash can do to them, chosen by a seed; what must hold is the test's matter. */
import type { Job } from '../../src/index.ts'
import type { TestEverytick } from '../../src/testing/test-everytick.ts'
import { randomFrom } from '../time/seed.ts'
import type { Stage } from './stage.ts'

export interface Dice {
  below(count: number): number
  pick<Item>(items: readonly Item[]): Item
  chance(share: number): boolean
}

export function dice(seed: number): Dice {
  const roll = randomFrom(seed)
  const below = (count: number): number => Math.floor(roll() * count)
  return { below, pick: (items) => items[below(items.length)]!, chance: (share) => roll() < share }
}

type Options = Record<string, unknown>

const SECOND = 1000
const MINUTE = 60 * SECOND
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata']
const CRONS = ['* * * * *', '*/5 * * * *', '30 2 * * *', '0,30 1-3 * * *', 'H/7 * * * *', '15 * * * * *', '0 12 * * *']
const EVERY = ['30s', '1m', '7m', '45m', '1d']

function timing(random: Dice, now: number): Options {
  const cron = (): Options => ({
    cron: random.pick(CRONS),
    timezone: random.pick(ZONES),
    ...(random.chance(0.5)
      ? { dst: { gap: random.pick(['shift', 'skip']), fold: random.pick(['first', 'second', 'both']) } }
      : {}),
  })
  const every = (): Options => ({ every: random.pick(EVERY) })
  const at = (): Options => ({ at: new Date(now + (random.below(120) - 20) * MINUTE) })
  const kind = random.below(10)
  const rule = kind < 4 ? cron() : kind < 7 ? every() : kind === 7 ? at() : { any: [cron(), every()] }
  return { ...rule, ...bounds(random, now) }
}

function bounds(random: Dice, now: number): Options {
  const near = (minutes: number): Date => new Date(now + random.below(minutes) * MINUTE)
  const range = { from: near(60), to: new Date(now + (61 + random.below(60)) * MINUTE) }
  return {
    ...(random.chance(0.15) ? { startAt: near(90) } : {}),
    ...(random.chance(0.1) ? { endAt: new Date(now + (100 + random.below(300)) * MINUTE) } : {}),
    ...(random.chance(0.2)
      ? { exclude: [random.pick<unknown>([range, '2027-03-28', '*/2 * * * *', '10-20 * * * *'])] }
      : {}),
  }
}

function policies(random: Dice): Options {
  return {
    overlap: random.pick(['skip', 'queue', 'queue_one', 'cancel_previous', 'allow']),
    catchUp: random.pick(['none', 'latest', 'all']),
    catchUpWindow: random.pick(['10m', '2h', '24h']),
    catchUpLimit: random.pick([1, 3, 100]),
    ...(random.chance(0.25) ? { jitter: random.pick<unknown>(['30s', '10%', { max: '5m', per: 'occurrence' }]) } : {}),
    ...(random.chance(0.1) ? { maxRuns: 1 + random.below(6) } : {}),
    ...(random.chance(0.2) ? { delivery: 'at_most_once' } : {}),
    ...(random.chance(0.1) ? { pauseOnFailure: 2 } : {}),
    ...(random.chance(0.1) ? { concurrencyKey: random.pick(['a', 'b']) } : {}),
  }
}

/** One schedule with what was done to it, for the message when it goes wrong. */
export interface Life {
  readonly key: string
  options: Options
  readonly log: string[]
  /** Whether its runs were ever allowed to be at work at once: by its policy, or because its group became another. */
  mayOverlap: boolean
  readonly concurrencyKey: unknown
}

export interface Theatre {
  readonly t: TestEverytick
  readonly stage: Stage
  readonly random: Dice
}

export async function born({ t, random, stage }: Theatre, key: string): Promise<Life> {
  const options = { ...timing(random, t.clock.now()), ...policies(random) }
  const { concurrencyKey } = options as Options
  const life: Life = { key, options, log: [], mayOverlap: false, concurrencyKey }
  await put(t, stage.job, life)
  return life
}

async function put(t: TestEverytick, job: Job, life: Life): Promise<void> {
  life.log.push(`${new Date(t.clock.now()).toISOString()} put ${JSON.stringify(life.options)}`)
  if (life.options.overlap === 'allow' || life.options.concurrencyKey !== life.concurrencyKey) life.mayOverlap = true
  try {
    await t.app.schedules.upsert({ key: life.key, job, ...life.options } as never)
  } catch (error) {
    // Random bounds may leave nothing that could ever run, or not go together; such a one is refused, and stays as it was.
    if (!['CRON_NEVER', 'TIMING_EXPENSIVE', 'OPTION_INVALID'].includes((error as { code: string }).code)) throw error
    life.log.push('  refused')
  }
}

/** Something happens to one schedule, or nothing. */
export async function step({ t, random, stage }: Theatre, life: Life): Promise<void> {
  const { schedules, runs } = t.app
  const note = (what: string): number => life.log.push(`${new Date(t.clock.now()).toISOString()} ${what}`)
  const there = await schedules.get('default', life.key)
  if (!there) {
    if (random.chance(0.5)) await put(t, stage.job, life)
    return
  }
  switch (random.below(16)) {
    case 0:
      life.options = { ...timing(random, t.clock.now()), ...policies(random) }
      return put(t, stage.job, life)
    case 1:
      life.options = { ...life.options, ...policies(random) }
      return put(t, stage.job, life)
    case 2:
      life.options = { ...life.options, description: `edited ${random.below(1000)}` }
      return put(t, stage.job, life)
    case 3: {
      const until = random.chance(0.5) ? { until: new Date(t.clock.now() + random.below(30) * MINUTE) } : {}
      note(`pause ${JSON.stringify(until)}`)
      return schedules.pause('default', life.key, { reason: 'random', by: 'ana', ...until })
    }
    case 4:
    case 5:
      note('resume')
      await schedules.resume('default', life.key, random.chance(0.3) ? { from: 'catchUp' } : {})
      return
    case 6:
      note('trigger')
      await schedules.trigger('default', life.key)
      return
    case 7:
      if (random.chance(0.3)) {
        note('remove')
        life.mayOverlap = true
        await schedules.remove('default', life.key)
      }
      return
    case 8: {
      const [live] = await runs.list({ schedule: life.key, state: ['pending', 'running'], limit: 5 })
      if (live) {
        note(`cancel ${live.id}`)
        await runs.cancel(live.id)
      }
      return
    }
    case 9: {
      const [dead] = await runs.list({ schedule: life.key, state: 'failed', limit: 1 })
      if (dead) {
        note(`retry ${dead.id}`)
        await runs.retry(dead.id)
      }
      return
    }
    default:
  }
}

/** Time passes, with or without anybody at work. */
export async function pass({ t, random, stage }: Theatre): Promise<string> {
  stage.lengthMs = random.pick([0, 0, 5 * SECOND, 90 * SECOND, 20 * MINUTE])
  stage.failing = random.chance(0.15)
  const span = random.pick([3 * SECOND, 40 * SECOND, 90 * SECOND, 4 * MINUTE])
  if (random.chance(0.25)) {
    await t.crash()
    stage.died()
    const outage = random.chance(0.1) ? 26 * 60 * MINUTE : random.pick([10 * SECOND, span, 35 * MINUTE])
    await t.advance(outage)
    return `outage of ${outage / 1000} s`
  }
  await t.advance(span)
  return `${span / 1000} s pass`
}
