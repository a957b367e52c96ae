/** `everytick forecast`: a heat strip of upcoming fires, spikes and clock changes; the server counts them. */
import { answer, type JsonOption, readCount } from '../answer.ts'
import type { BackendOptions } from '../backend.ts'
import { type Io, withBackend } from '../io.ts'
import { printable, rowsText, type View } from '../print.ts'

export interface ForecastOptions extends BackendOptions, JsonOption {
  readonly hours: string
  readonly workspace?: string
}

interface Sample {
  readonly workspace: string
  readonly key: string
}
export interface Bucket {
  readonly at: string
  readonly fires: number
  readonly workSeconds: number
  readonly capacity: number | null
  readonly top: readonly { readonly job: string; readonly fires: number }[]
}
export interface Outlook {
  readonly forecast: {
    readonly from: string
    readonly to: string
    readonly slots: number | null
    readonly data: readonly Bucket[]
  }
  readonly spikes: {
    readonly data: readonly {
      readonly at: string
      readonly fires: number
      readonly proposal: { readonly jitter: string; readonly maxFiresAfter: number } | null
      readonly top: readonly { readonly job: string; readonly sample: Sample }[]
    }[]
  }
  readonly clockChanges: {
    readonly data: readonly {
      readonly at: string
      readonly zone: string
      readonly effect: string
      readonly schedules: number
      readonly samples: readonly Sample[]
    }[]
  }
}

const HOUR_MS = 3_600_000

export function forecast(options: ForecastOptions, io: Io): Promise<void> {
  const hours = readCount(options.hours, '--hours', [1, 168])
  const { workspace } = options
  return withBackend(options, async (backend) => {
    const query = { workspace }
    // The server caches the default day from now; another length needs both ends, by the server's clock.
    const day = await backend.ask<Outlook['forecast']>('GET', '/forecast', { query: { ...query, bucket: '1h' } })
    const from = Date.parse(day.from)
    const span = { from: day.from, to: new Date(from + hours * HOUR_MS).toISOString() }
    const outlook: Outlook = {
      forecast:
        hours === 24 ? day : await backend.ask('GET', '/forecast', { query: { ...query, bucket: '1h', ...span } }),
      spikes: await backend.ask('GET', '/forecast/spikes', { query }),
      clockChanges: await backend.ask('GET', '/forecast/clock-changes', { query }),
    }
    await answer(outlook, { ...options, io }, outlookText)
  })
}

const BARS = '▁▂▃▄▅▆▇█'

/** A blank means no fires, so that one fire is visible; a full block is the maximum. */
export function barOf(fires: number, most: number): string {
  if (fires === 0) return ' '
  return BARS[Math.min(BARS.length - 1, Math.floor((fires / most) * BARS.length))]!
}

export function outlookText(outlook: Outlook, view: View): string {
  const { forecast: found, spikes, clockChanges } = outlook
  if (!view.terminal) {
    const rows = found.data.map(({ at, fires, workSeconds, capacity, top }) => [
      ...[at, String(fires), String(Math.round(workSeconds)), capacity === null ? '-' : String(Math.round(capacity))],
      top.map(({ job }) => job).join(' ') || '-',
    ])
    return rowsText([], rows, view)
  }
  const { bold, dim, yellow } = view.colours
  const total = found.data.reduce((sum, { fires }) => sum + fires, 0)
  const busiest = found.data.reduce((most, each) => (each.fires > most.fires ? each : most), found.data[0]!)
  const lines = [
    `${bold(`${total} fires`)} in ${found.data.length} hours ${dim(`from ${minuteText(found.from)}`)}${slotsText(found.slots)}`,
    ...stripLines(found.data, busiest.fires).flatMap(({ bars, hours }) => [bars, dim(hours)]),
    ...(total === 0 ? [] : [`busiest ${minuteText(busiest.at)}: ${busiest.fires} fires${topText(busiest.top)}`]),
    ...spikes.data.slice(0, SHOWN).map((spike) => `${yellow('⚠')} ${spikeText(spike)}`),
    ...rest(spikes.data.length, 'spikes'),
    ...clockChanges.data.slice(0, SHOWN).map((each) => `${yellow('⏲')} ${changeText(each)}`),
    ...rest(clockChanges.data.length, 'clock changes'),
  ]
  return lines.map((line) => `  ${line.trimEnd()}\n`).join('')
}

const SHOWN = 6
const rest = (count: number, what: string): string[] =>
  count > SHOWN ? [`and ${count - SHOWN} more ${what}: --json lists them`] : []
const minuteText = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 16)}Z`
const slotsText = (slots: number | null): string => (slots === null ? '' : `, ${slots} slots to execute them`)
const namesText = (samples: readonly Sample[]): string =>
  samples.map(({ workspace, key }) => printable(workspace === 'default' ? key : `${workspace}/${key}`)).join(', ')
const topText = (top: Bucket['top']): string =>
  top.length === 0 ? '' : ` (${top.map(({ job, fires }) => `${printable(job)} ${fires}`).join(', ')})`

const DAY = 24
/** Two characters per hour, one line per day, with the UTC hour below. */
function stripLines(data: readonly Bucket[], most: number): { bars: string; hours: string }[] {
  return Array.from({ length: Math.ceil(data.length / DAY) }, (_, day) => {
    const part = data.slice(day * DAY, (day + 1) * DAY)
    return {
      bars: part.map(({ fires }) => barOf(fires, most).repeat(2)).join(''),
      hours: part.map(({ at }, i) => (i % 3 === 0 ? at.slice(11, 13) : '  ')).join(''),
    }
  })
}

function spikeText({ at, fires, proposal, top }: Outlook['spikes']['data'][number]): string {
  const cure = proposal ? ` → with jitter ${proposal.jitter}, at most ${proposal.maxFiresAfter}` : ''
  return `${at.slice(0, 19).replace('T', ' ')}Z spike: ${fires} fires in one second (${namesText(top.map(({ sample }) => sample))})${cure}`
}

const EFFECTS: Readonly<Record<string, string>> = {
  skipped: 'skipped',
  shifted: 'shifted',
  repeated: 'run twice',
  moved_in_utc: 'moved in UTC',
}

const changeText = ({ at, zone, effect, schedules, samples }: Outlook['clockChanges']['data'][number]): string =>
  `${minuteText(at)} ${printable(zone)} changes its clock: ${schedules} ${EFFECTS[effect] ?? printable(effect)} (${namesText(samples)})`
