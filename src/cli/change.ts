/** Makes one change through a backend, or prints it with --dry-run. */
import { answer, type JsonOption } from './answer.ts'
import type { Backend, BackendOptions } from './backend.ts'
import type { Io } from './io.ts'
import { printable } from './print.ts'

export interface ChangeOptions extends BackendOptions, JsonOption {
  readonly dryRun?: boolean
}

export interface Change {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** Such as `pause queue mail`. */
  readonly words: string
}

/** The JSON of a dry run. */
const plan = ({ method, path, body }: Change): Readonly<Record<string, unknown>> => ({
  ...{ dryRun: true, method, path },
  ...(body === undefined ? {} : { body }),
})

/** Makes a change and prints the response, or prints what it would change. */
export async function change<Answer extends object | null>(
  backend: Backend,
  { said, ...wanted }: Change & { readonly said: (answer: Answer) => string },
  options: ChangeOptions & { readonly io: Io },
): Promise<void> {
  if (options.dryRun) return printPlan(wanted, options)
  const { method, path, body } = wanted
  const done = await backend.ask<Answer>(method, path, body === undefined ? {} : { body })
  // A removal returns no body, but `--json` must print something.
  await answer(done ?? { done: wanted.words }, options, () => `${printable(said(done))}\n`)
}

export const printPlan = (wanted: Change, options: JsonOption & { readonly io: Io }): Promise<void> =>
  answer(plan(wanted), { ...options, json: Boolean(options.json) }, () => `would ${printable(wanted.words)}\n`)
