/** One process of the race: opens one contender and does what the harness asks for; what is asked, and when, is decided there. */

const { module, place } = JSON.parse(process.argv[2])
/** Counts are sent together: a message for each start would cost more than the work does. */
const TELL_MS = 5

// By the machine's own clock, so that the instants of two processes can be compared.
const now = () => Number(process.hrtime.bigint()) / 1e6
const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const { open, settings } = await import(module)
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

const answers = {
  enqueueBulk: (count) => timed(() => contender.enqueueBulk(count)),
  /** Answers when the call was made. */
  async enqueueOne() {
    const at = now()
    await contender.enqueueOne()
    return at
  },
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
