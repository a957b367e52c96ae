/** `@reboot` as a timing: it can be read, and it names no instant; refusing it where instants are needed is `never.ts`. */
import { Timing, type Warning } from './timing.ts'

export class Reboot extends Timing {
  readonly kind = 'reboot'
  readonly expression = '@reboot'
  readonly timezone = 'UTC'

  nextAt(): null {
    return null
  }

  prevAt(): null {
    return null
  }

  countAt(): number {
    return 0
  }

  describe(): string {
    return 'When a machine starts, which is no instant that a schedule can name.'
  }

  protected warningsAt(): Warning[] {
    return [{ code: 'NEVER', text: 'a restart of a machine is not an instant: schedules reject @reboot' }]
  }
}
