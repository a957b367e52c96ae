/** Stands in for jobs that only other processes have, so that a process without code can keep schedules and make runs of them; it carries none of them out. */
import { defineJob, type Job } from '../job.ts'
import type { PayloadSchema } from './payload.ts'

/** Takes any payload: whoever has the job judges it when the run is carried out. */
const anything: PayloadSchema = {
  '~standard': { version: 1, vendor: 'everytick', validate: (value) => ({ value }) },
}

/** The jobs of this process, and for every other name a stand-in. */
export class ForeignJobs extends Map<string, Job> {
  override get(name: string): Job {
    return super.get(name) ?? defineJob({ name, payload: anything, run: neverHere })
  }

  override has(name: string): boolean {
    return name !== ''
  }
}

const neverHere = (): never => {
  throw new Error('a job of another process is not carried out here')
}
