/** The job of `sidequest.mjs`, in a file of its own because sidequest finds jobs by file. */
import { Job } from 'sidequest'

let told = () => {}

/** From now on, `callback` is called by every job that starts. */
export const onJob = (callback) => {
  told = callback
}

export class Noop extends Job {
  async run() {
    told()
  }
}
