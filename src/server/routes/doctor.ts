/** HTTP handler of doctor: facts from `diagnosis.ts`, evaluated by `observe/diagnosis.ts`. */
import { diagnose } from '../../observe/diagnosis.ts'
import * as contract from '../contract/doctor.ts'
import { createDiagnosis } from '../diagnosis.ts'
import type { Parts } from '../parts.ts'
import { ok, type Route, route } from '../route.ts'

export function doctorRoutes({ core }: Parts): readonly Route[] {
  const look = createDiagnosis(core)
  return [
    route(contract.readDoctor, async () => {
      const { now, store, facts } = await look()
      const findings = diagnose(facts)
      const healthy = findings.every(({ level }) => level !== 'wrong')
      return ok({ asOf: new Date(now), store, healthy, findings })
    }),
  ]
}
