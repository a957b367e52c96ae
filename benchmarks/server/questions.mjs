/** What the server is asked, and how long each answer may take; who asks and counts is `asking.mjs`. */
/** Within which an answer must be there, in milliseconds, for 95 of 100. */
export const MOST_MS = 100
/** The same for the first forecast, which is computed while somebody waits. */
export const FIRST_MS = 2000

const [LARGE, SMALL] = ['ws-0000', 'ws-1700']
const DAY_MS = 86_400_000

/**
 * Rows in their order, `{ id, what, path }`, about a job, a tag, and schedules that ran often and as usual. Those with `first` are asked for once before and hold that time too. The last
 * of a search finds nothing, which is what takes longest.
 */
export function questions({ now, job, tag, often, usual }) {
  const week = `from=${new Date(now).toISOString()}&to=${new Date(now + 7 * DAY_MS).toISOString()}&bucket=1h`
  return [
    { id: 'overview', what: 'overview of the fleet', path: '/overview' },
    { id: 'overview-workspace', what: '  of a workspace', path: `/overview?workspace=${SMALL}` },
    { id: 'schedules', what: 'schedules, the first page', path: '/schedules' },
    { id: 'schedules-workspace', what: '  of a workspace', path: `/schedules?workspace=${LARGE}` },
    { id: 'schedules-job', what: '  of a job', path: `/schedules?job=${job}` },
    { id: 'schedules-job-none', what: '  of a job without runs or schedules', path: '/schedules?job=nobody' },
    { id: 'schedules-tag', what: '  with a tag', path: `/schedules?tag=${tag}` },
    { id: 'schedules-text', what: '  with a text in the key', path: '/schedules?q=mail' },
    { id: 'schedules-text-none', what: '  with a text that no key has', path: '/schedules?q=nowhere' },
    { id: 'schedules-paused', what: '  that are paused', path: '/schedules?health=paused' },
    { id: 'schedules-quarantined', what: '  that are quarantined', path: '/schedules?health=quarantined' },
    { id: 'schedules-overdue', what: '  that are overdue', path: '/schedules?health=overdue' },
    { id: 'schedules-last', what: '  with the last ten runs of each', path: '/schedules?last=10' },
    { id: 'runs', what: 'runs, the first page', path: '/runs' },
    { id: 'runs-failed', what: '  that failed', path: '/runs?status=failed' },
    {
      id: 'runs-failed-workspace',
      what: '  that failed, of a workspace',
      path: `/runs?status=failed&workspace=${SMALL}`,
    },
    { id: 'runs-running', what: '  that are running', path: '/runs?status=running' },
    { id: 'runs-workspace', what: '  of a large workspace', path: `/runs?workspace=${LARGE}` },
    { id: 'runs-workspace-small', what: '  of a small workspace', path: `/runs?workspace=${SMALL}` },
    { id: 'runs-job', what: '  of a job', path: `/runs?job=${job}` },
    { id: 'runs-job-none', what: '  of a job without runs or schedules', path: '/runs?job=nobody' },
    { id: 'runs-schedule', what: '  of a schedule', path: `/runs?schedule=${usual}` },
    { id: 'runs-schedule-hot', what: '  of a schedule that runs often', path: `/runs?schedule=${often}` },
    {
      id: 'runs-schedule-failed',
      what: '  of such a one that failed, which none did',
      path: `/runs?schedule=${often}&status=failed`,
    },
    { id: 'forecast-day', what: 'forecast of a day', path: '/forecast', first: true },
    { id: 'forecast-week', what: '  of a week', path: `/forecast?${week}`, first: true },
    { id: 'forecast-spikes', what: '  spikes', path: '/forecast/spikes', first: true },
  ]
}

/** Ids of the rows that must be there. */
export const REQUIRED_ROWS = questions({ now: 0, job: '', tag: '', often: '', usual: '' }).flatMap(({ id, first }) => [
  ...(first ? [`postgres-${id}-first`] : []),
  `postgres-${id}-p95`,
])
