/** Agenda with its Postgres backend: polls every 100 ms, a thousand jobs at once, 500 of them locked; woken by NOTIFY. */
import { PostgresBackend } from '@agendajs/postgres-backend'
import { Agenda } from 'agenda'
import { inGroups } from '../../core/turns.mjs'
import { anyLeft } from '../left.mjs'

export const settings = {
  processEvery: 100,
  maxConcurrency: 1000,
  defaultConcurrency: 1000,
  lockLimit: 500,
  defaultLockLimit: 500,
  removeOnComplete: true,
}

/** Ten thousand take it longer to create than others take for a whole round. */
export const absences = { '10,000 schedules due at once': 'creates some 500 schedules a second, and starts as many' }

export async function open(place) {
  // It says the same of thousands of jobs that were locked when a worker stopped.
  const said = new Set()
  const sayOnce = ({ message }) => said.has(message) || (said.add(message) && console.error(`agenda: ${message}`))
  const start = async (ensureSchema) => {
    const backend = new PostgresBackend({ connectionString: place.where, ensureSchema })
    const agenda = new Agenda({ ...settings, backend })
    agenda.on('error', sayOnce)
    await agenda.ready
    return agenda
  }
  const producer = await start(true)
  producer.define('noop', async () => {})
  const left = await anyLeft(
    place,
    'select 1 from agenda_jobs where next_run_at is not null and repeat_interval is null',
  )
  const work = async (told, name = 'noop') => {
    // Two processes that make the tables at once trip over each other.
    const agenda = await start(false)
    agenda.define(name, async () => told())
    await agenda.start()
    return () => agenda.stop()
  }
  return {
    /** There is no call for many; ten at once, as many as its pool has connections. */
    enqueueBulk: (count) => inGroups({ total: count, group: 1, inFlight: 10 }, () => producer.now('noop', {})),
    enqueueOne: () => producer.now('noop', {}),
    work,
    left: left.ask,
    createSchedules(from, count) {
      let made = from
      const create = async () => {
        const job = producer.create('hourly', { made: made++ })
        job.repeatEvery(`${made % 60} * * * *`)
        await job.save()
      }
      return inGroups({ total: count, group: 1, inFlight: 10 }, create)
    },
    backlog: {
      sizes: [1000],
      createsPerSecond: 200,
      async start({ count, dueAt, name }, told) {
        let made = 0
        const create = async () => {
          const job = producer.create('backlog', { made: `${name}-${made++}` })
          job.repeatEvery('1 day', { skipImmediate: true }).schedule(dueAt)
          await job.save()
        }
        await inGroups({ total: count, group: 1, inFlight: 10 }, create)
        // By a name of their own: what was locked when a measurement before this one ended is started again.
        return work(told, 'backlog')
      },
    },
    async close() {
      await left.close()
      await producer.stop()
    },
  }
}
