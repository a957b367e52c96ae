/** Remembers of a job that runs one program which program that is, for whoever writes it down elsewhere; nothing of it is stored. */

export interface SpokenCommand {
  readonly file: string
  /** Null when they depend on the payload. */
  readonly args: readonly string[] | null
  /** The shell that reads `file` as text; null when it is a program. */
  readonly shell: string | null
  readonly stdin: string | null
  readonly cwd: string | null
  readonly env: Readonly<Record<string, string>>
}

const known = new WeakMap<object, SpokenCommand>()

export const rememberCommand = (job: object, spoken: SpokenCommand): void => void known.set(job, spoken)

export const spokenCommand = (job: object): SpokenCommand | null => known.get(job) ?? null
