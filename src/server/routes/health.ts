/** Answers those who start and stop the server. */
import * as contract from '../contract/health.ts'
import type { Parts } from '../parts.ts'
import { Refusal } from '../problem.ts'
import { ok, type Route, route } from '../route.ts'

/** Whoever asks decides by the answer, and soon asks again: no answer is one too. */
const PATIENCE_MS = 2000

export function healthRoutes({ core }: Parts): readonly Route[] {
  return [
    route(contract.healthz, async () => ok({ status: 'ok' })),
    route(contract.readyz, async () => {
      let forget = (): void => {}
      const late = new Promise<never>((_, reject) => {
        forget = core.timers.set(PATIENCE_MS, () => reject(new Refusal('UNAVAILABLE', 'the database does not answer')))
      })
      try {
        await Promise.race([core.store().then((store) => store.now()), late])
        return ok({ status: 'ready' })
      } catch (error) {
        if (error instanceof Refusal) throw error
        throw new Refusal('UNAVAILABLE', 'the database cannot be reached', { headers: { 'retry-after': '1' } })
      } finally {
        forget()
      }
    }),
  ]
}
