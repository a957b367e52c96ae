/** `everytick doctor`: prints the findings of a server or database with their fixes, and fails if a check fails. */
import { EverytickError } from '../../errors.ts'
import type { Finding } from '../../observe/diagnosis.ts'
import { answer, type JsonOption } from '../answer.ts'
import type { BackendOptions } from '../backend.ts'
import { type Io, withBackend } from '../io.ts'
import { printable, rowsText, type View } from '../print.ts'
import { UsageError } from '../usage-error.ts'

export type DoctorOptions = BackendOptions & JsonOption

interface Diagnosis {
  readonly store: string
  readonly healthy: boolean
  readonly findings: readonly Finding[]
}

export async function doctor(options: DoctorOptions, io: Io): Promise<void> {
  const diagnosis = await diagnosisOf(options)
  await answer(diagnosis, { ...options, io }, ({ findings }, view) => findingsText(findings, view))
  if (diagnosis.healthy) return
  const wrong = diagnosis.findings.filter(({ level }) => level === 'wrong').length
  throw new UsageError(`${wrong} ${wrong === 1 ? 'check' : 'checks'} failed`, { code: 'CHECK_FAILED' })
}

async function diagnosisOf(options: DoctorOptions): Promise<Diagnosis> {
  try {
    return await withBackend(options, (backend) => backend.ask<Diagnosis>('GET', '/doctor'))
  } catch (error) {
    const finding = schemaFinding(error) ?? storeFinding(error)
    if (!finding) throw error
    return { store: '', healthy: false, findings: [finding] }
  }
}

/** A wrong schema version prevents opening the database, so report it as a finding. */
function schemaFinding(error: unknown): Finding | null {
  if (!(error instanceof EverytickError)) return null
  const { code, message, hint } = error
  if (code !== 'SCHEMA_OUTDATED' && code !== 'SCHEMA_TOO_NEW') return null
  return { check: 'schema', level: 'wrong', text: message, fix: hint?.replace(/^run: /, '') ?? null }
}

/** An unusable database is a finding too, whether this process or the server reports it. */
const STORE_AWAY: ReadonlySet<string> = new Set([
  'STORE_DENIED',
  'STORE_FULL',
  'STORE_STANDBY',
  'STORE_TLS',
  'STORE_UNREACHABLE',
  'STORE_UNUSABLE',
])

function storeFinding(error: unknown): Finding | null {
  if (!(error instanceof EverytickError || error instanceof UsageError)) return null
  const { code, message, hint } = error
  return STORE_AWAY.has(code) ? { check: 'store', level: 'wrong', text: message, fix: hint ?? null } : null
}

export function findingsText(findings: readonly Finding[], view: View): string {
  if (!view.terminal) {
    return rowsText(
      [],
      findings.map(({ level, check, text, fix }) => [level, check, text, fix ?? '']),
      view,
    )
  }
  const { green, yellow, red, dim } = view.colours
  const signs = { ok: green('✓'), warning: yellow('⚠'), wrong: red('✗') }
  return findings
    .map(({ level, text, fix }) => {
      const advice = fix === null ? '' : `\n      ${dim('→')} ${printable(fix)}`
      return `  ${signs[level]} ${printable(text)}${advice}\n`
    })
    .join('')
}
