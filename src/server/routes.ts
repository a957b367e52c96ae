/** The table of all HTTP routes; each resource has a contract file and a handler file. */
import type { Parts } from './parts.ts'
import type { Route } from './route.ts'
import { alertRuleRoutes } from './routes/alert-rules.ts'
import { alertRoutes } from './routes/alerts.ts'
import { auditRoutes } from './routes/audit.ts'
import { backfillRoutes } from './routes/backfills.ts'
import { channelRoutes } from './routes/channels.ts'
import { cleanupRoutes } from './routes/cleanup.ts'
import { doctorRoutes } from './routes/doctor.ts'
import { eventRoutes } from './routes/events.ts'
import { explainRoutes } from './routes/explain.ts'
import { fleetRoutes } from './routes/fleet.ts'
import { forecastRoutes } from './routes/forecast.ts'
import { healthRoutes } from './routes/health.ts'
import { keyRoutes } from './routes/keys.ts'
import { ledgerRoutes } from './routes/ledger.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { openApiRoutes } from './routes/openapi.ts'
import { operationRoutes } from './routes/operations.ts'
import { overviewRoutes } from './routes/overview.ts'
import { previewRoutes } from './routes/preview.ts'
import { quotaRoutes } from './routes/quotas.ts'
import { runRoutes } from './routes/runs.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { sessionRoutes } from './routes/session.ts'
import { simulateRoutes } from './routes/simulate.ts'
import type { SignIn } from './sign-in.ts'

export function routesOf(parts: Parts, signIn: SignIn): readonly Route[] {
  const routes: Route[] = [
    ...scheduleRoutes(parts),
    ...runRoutes(parts),
    ...overviewRoutes(parts),
    ...backfillRoutes(parts),
    ...fleetRoutes(parts),
    ...quotaRoutes(parts),
    ...explainRoutes(parts),
    ...previewRoutes(parts),
    ...simulateRoutes(parts),
    ...forecastRoutes(parts),
    ...ledgerRoutes(parts),
    ...eventRoutes(parts),
    ...operationRoutes(parts),
    ...alertRoutes(parts),
    ...alertRuleRoutes(parts),
    ...channelRoutes(parts),
    ...keyRoutes(parts),
    ...auditRoutes(parts),
    ...sessionRoutes(parts, signIn),
    ...healthRoutes(parts),
    ...doctorRoutes(parts),
    ...cleanupRoutes(parts),
    ...metricsRoutes(parts),
  ]
  return [...routes, ...openApiRoutes(parts, routes)]
}
