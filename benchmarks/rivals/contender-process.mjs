/** One process of the race: opens one contender and does what the harness asks for; what is asked, and when, is decided there. */

const { module, place } = JSON.parse(process.argv[2])
/** Counts are sent together: a message for each start would cost more than the work does. */
const TELL_MS = 5
const EARLY_MS = 100

// By the machine's own clock, so that the instants of two processes can be compared.
const now = () => Number(process.hrtime.bigint()) / 1e6
const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const { open, settings, createScale = 1, absences = {} } = await import(module)
const contender = await open(place)
let working = null

async function timed(work) {
  const startedAt = now()
  await work()
  return now() - startedAt
}

/** Counts what starts. Time and CPU are counted from the first start on: how long a worker takes to begin is another question. */
async function work() {
  const seen = { count: 0, firstAt: null, cpuAtFirst: 0 }
  let told = 0
  const tell = () => {
    if (seen.count > told) process.send({ started: seen.count - told })
    told = seen.count
  }
  const timer = setInterval(tell, TELL_MS)
  working = { seen, end: () => clearInterval(timer), stop: async () => {} }
  working.stop = await contender.work(() => {
    if (seen.count++ > 0) return
    seen.firstAt = now()
    seen.cpuAtFirst = cpuMs()
  })
}

/** Tells of each start at once, with its instant. */
async function watch() {
  working = { end() {}, stop: async () => {} }
  working.stop = await contender.work(() => process.send({ startedAt: now() }))
}

/**
 * Many schedules due at one instant, which lies `leadMs` or more after the last of them is created: answers how late they
 * started, by the clock that they are due by.
 */
async function backlog({ count, round, leadMs }) {
  const { minutes, createsPerSecond, start } = contender.backlog
  const unit = minutes ? 60_000 : 1000
  const createMs = (count / createsPerSecond) * 1000
  const dueAt = Math.ceil((Date.now() + createMs + leadMs) / unit) * unit
  const late = []
  let done = () => {}
  const all = new Promise((resolve) => {
    done = resolve
  })
  const told = () => {
    late.push(Date.now() - dueAt)
    if (late.length === count) done()
  }
  const stop = await start({ count, dueAt: new Date(dueAt), name: `backlog-${round}-${count}` }, told)
  // Whoever plans ahead must have had the time to.
  if (Date.now() > dueAt - leadMs * 0.8) throw new Error(`${count} schedules were not created in time`)
  await all
  await stop()
  late.sort((a, b) => a - b)
  // A timer may be a little early; a schedule that fired when it was created is another thing.
  if (late[0] < -EARLY_MS) throw new Error(`a run started ${-late[0]} ms before its time`)
  return { p99: late[Math.floor(count * 0.99)], last: late[count - 1] }
}

const answers = {
  enqueueBulk: (count) => timed(() => contender.enqueueBulk(count)),
  /** Answers when the call was made. */
  async enqueueOne() {
    const at = now()
    await contender.enqueueOne()
    return at
  },
  async enqueueSingle(count) {
    return timed(async () => {
      for (let i = 0; i < count; i++) await contender.enqueueOne()
    })
  },
  backlog,
  work,
  watch,
  left: () => contender.left(),
  /** Since the first start; null when nothing started here. */
  account() {
    const { firstAt, cpuAtFirst } = working.seen
    return firstAt === null ? null : { firstAt, now: now(), cpuMs: cpuMs() - cpuAtFirst }
  },
  async rest() {
    working.end()
    await working.stop()
    working = null
  },
  createSchedules: ({ from, count }) => timed(() => contender.createSchedules(from, count)),
  offers: () => ({
    settings,
    schedules: contender.createSchedules !== undefined,
    single: contender.enqueueOne !== undefined,
    createScale,
    absences: { ...absences, ...contender.absences },
    backlog: contender.backlog && { sizes: contender.backlog.sizes, minutes: contender.backlog.minutes },
  }),
  close: () => contender.close(),
}

process.on('message', async ({ n, ask, value }) => {
  try {
    process.send({ n, answer: (await answers[ask](value)) ?? null })
  } catch (error) {
    process.send({ n, error: error?.stack ?? String(error) })
  }
})
process.on('disconnect', () => process.exit())
process.send({ ready: true })
