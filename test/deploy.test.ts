/** Holds the files in deploy/ and the page on monitoring to the product: every metric they name is there, every alert is explained and tested, and linters pass where they are installed. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { defineJob, everytick } from '../src/index.ts'
import { RULE_KINDS, type RuleKind } from '../src/observe/alert-rule.ts'
import { handler } from '../src/server.ts'
import { parseDuration } from '../src/time/duration.ts'
import { rowsUnder } from './markdown.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const read = (name: string): string => readFileSync(join(root, 'deploy', name), 'utf8')
const PAGE = 'docs/operate/monitoring.md'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string }
}
const rules = (parse(read('prometheus-rules.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
)
const dashboard = JSON.parse(read('grafana-dashboard.json')) as {
  panels: { title: string; type: string; targets?: { expr: string }[] }[]
  templating: { list: unknown[] }
}
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

/** The metrics that an expression names, without what histograms add to their names. */
const metricsIn = (text: string): string[] => [
  ...new Set(Array.from(text.matchAll(/\beverytick_\w+/g), ([name]) => name.replace(/_(?:bucket|sum|count)$/, ''))),
]

/** What a server tells, and its metrics from name to type. */
let text: string
let told: Map<string, string>
beforeAll(async () => {
  const app = everytick({ store: 'sqlite::memory:', jobs: [defineJob({ name: 'job', run: () => {} })] })
  const answer = await handler(app, { publicMetrics: true })(new Request('http://localhost/metrics'))
  text = await answer.text()
  told = new Map(Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name, type]) => [name!, type!]))
  await app.stop()
})

describe('the alert rules', () => {
  it('name only metrics that a server tells', () => {
    expect(rules.flatMap(({ expr }) => metricsIn(expr)).filter((name) => !told.has(name))).toEqual([])
  })

  it('say how bad it is and what to do', () => {
    expect(rules.length).toBeGreaterThan(15)
    for (const { labels, annotations } of rules) {
      expect(['critical', 'warning']).toContain(labels.severity)
      expect(annotations.summary).toMatch(/\.$/)
      expect(annotations.description).toMatch(/[.?]$/)
    }
  })

  const exprOf = (name: string): string => rules.find(({ alert }) => alert === name)!.expr

  it('have the limits from which on Everytick alerts by itself', () => {
    const setting = (kind: RuleKind, name: string): unknown => RULE_KINDS[kind].settings[name]!.default
    const secondsOf = (kind: RuleKind, name: string): number => parseDuration(String(setting(kind, name))) / 1000
    const limits: readonly (readonly [rule: string, limit: string])[] = [
      ['PlanningBehind', `everytick_evaluation_lag_seconds) > ${secondsOf('planner_stalled', 'after')}`],
      ['RunsFailing', `[${setting('failure_rate', 'window')}])) >= ${setting('failure_rate', 'share')}`],
      ['Backlog', `everytick_queue_depth) > ${setting('queue_depth', 'depth')}`],
      ['Backlog', `everytick_queue_oldest_due_seconds) > ${secondsOf('queue_depth', 'for')}`],
      ['NearTimeout', `le="${setting('run_too_long', 'timeoutShare')}"`],
      // increase() makes of five changes a little more than five.
      [
        'LeadershipFlapping',
        `[${setting('leadership_flapping', 'window')}])) > ${setting('leadership_flapping', 'changes')}.5`,
      ],
    ]
    for (const [rule, limit] of limits) expect(exprOf(`Everytick${rule}`)).toContain(limit)
  })

  it('leave no failed run between the rule of busy jobs and that of the others', () => {
    const runs = 'and sum by (job) (increase(everytick_runs_total[1h]))'
    expect(exprOf('EverytickRunsFailing')).toContain(`${runs} >= 10`)
    expect(exprOf('EverytickRunFailed')).toContain(`${runs} < 10`)
  })

  it('are each shown to fire and to stay quiet', () => {
    const { tests } = parse(read('prometheus-rules.test.yaml')) as { tests: { name: string }[] }
    const names = new Set(tests.map(({ name }) => name))
    const untested = rules.flatMap(({ alert }) => [`${alert} fires`, `${alert} stays quiet`])
    expect(untested.filter((name) => !names.has(name))).toEqual([])
  })
})

describe('the dashboard', () => {
  it('names only metrics that a server tells, and shows each of them', () => {
    const shown = metricsIn(queries.join('\n'))
    expect(shown.filter((name) => !told.has(name))).toEqual([])
    expect([...told.keys()].filter((name) => !shown.includes(name))).toEqual([])
    const chosen = metricsIn(JSON.stringify(dashboard.templating))
    expect(chosen.filter((name) => !told.has(name))).toEqual([])
  })
})

describe('the page on monitoring', () => {
  const rows = () => rowsUnder(PAGE, ['Metric', 'Type', 'Labels', 'Meaning', 'Alert'])

  it('explains every metric that a server tells, and no other', () => {
    const listed = rows().map(([name = '', type = '']) => `${name} ${type}`)
    expect(listed.toSorted()).toEqual(Array.from(told, ([name, type]) => `${name} ${type}`).toSorted())
  })

  it('names every alert beside a metric that it is about', () => {
    const listed = rows().flatMap(([name = '', , , , alerts = '']) =>
      alerts
        .split(', ')
        .filter(Boolean)
        .map((alert) => ({ alert, name })),
    )
    expect(listed.map(({ alert }) => alert).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
    for (const { alert, name } of listed)
      expect(metricsIn(rules.find((rule) => rule.alert === alert)!.expr)).toContain(name)
  })
})

describe('rules and dashboard', () => {
  it('ask for no label that a metric does not have', () => {
    const rows = rowsUnder(PAGE, ['Metric', 'Type', 'Labels', 'Meaning', 'Alert'])
    const labels = new Map(rows.map(([name = '', , of = '']) => [name, of.split(', ').filter(Boolean)]))
    const unknown = [...rules.map(({ expr }) => expr), ...queries].flatMap((expr) => {
      const names = metricsIn(expr)
      const grouped = Array.from(expr.matchAll(/\bby \(([^)]*)\)/g), ([, list]) => list!.split(', ')).flat()
      const those = new Set(['le', 'instance', ...names.flatMap((name) => labels.get(name) ?? [])])
      const selected = Array.from(expr.matchAll(/\b(everytick_\w+)\{([^}]*)\}/g), ([, name, matchers]) => {
        const own = new Set(['le', 'instance', ...(labels.get(metricsIn(name!)[0]!) ?? [])])
        return Array.from(matchers!.matchAll(/(\w+)(?:=~|!~|!=|=)"/g), ([, label]) => label!).filter(
          (each) => !own.has(each),
        )
      })
      return [...grouped.filter((each) => !those.has(each)), ...selected.flat()].map((label) => `${label} in ${expr}`)
    })
    expect(unknown).toEqual([])
  })
})

/** What a process needs to stop in peace: 30 s for what runs and 5 s for last words. */
const STOP_S = 35
const COMMAND = ['serve', '--host', '0.0.0.0', '--port', '4410']

describe('the deployment files', () => {
  it('are YAML without faults', () => {
    for (const name of ['compose.yaml', 'kubernetes.yaml', 'prometheus-rules.yaml', 'prometheus-rules.test.yaml']) {
      const faults = parseAllDocuments(read(name)).flatMap((each) =>
        'errors' in each ? [...each.errors, ...each.warnings] : [],
      )
      expect(faults).toEqual([])
    }
  })

  it('all start the same command, with time to stop', () => {
    const compose = parse(read('compose.yaml')).services.everytick
    expect(compose.command).toEqual(COMMAND)
    expect(Number.parseInt(compose.stop_grace_period, 10)).toBeGreaterThan(STOP_S)
    const unit = read('everytick.service')
    expect(unit).toMatch(new RegExp(`^ExecStart=\\S+/everytick ${COMMAND.join(' ').replaceAll('.', '\\.')}$`, 'm'))
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1])).toBeGreaterThan(STOP_S)
    expect(read('Dockerfile')).toContain(`CMD ${JSON.stringify(COMMAND).replaceAll(',', ', ')}`)
  })

  it('run as anybody but root', () => {
    const image = read('Dockerfile')
    const last = image.slice(image.lastIndexOf('\nFROM '))
    expect(last).toMatch(/^USER (?!0|root)\d+:\d+$/m)
    expect(last).toContain('/healthz')
    expect(read('everytick.service')).toMatch(/^DynamicUser=yes$/m)
    expect(parse(read('compose.yaml')).services.everytick).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
  })

  it('give Kubernetes what it needs to move pods without a gap', () => {
    const manifests = parseAllDocuments(read('kubernetes.yaml')).map((each) => each.toJS())
    const of = (kind: string) => manifests.find((each) => each.kind === kind).spec
    const { replicas, selector, template } = of('Deployment')
    const pod = template.spec
    const [container] = pod.containers
    expect(container.args).toEqual(COMMAND)
    expect(container.readinessProbe.httpGet.path).toBe('/readyz')
    expect(container.livenessProbe.httpGet.path).toBe('/healthz')
    const [, preStopS] = container.lifecycle.preStop.exec.command
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(STOP_S + Number(preStopS))
    expect(pod.securityContext.runAsNonRoot).toBe(true)
    expect(of('PodDisruptionBudget').minAvailable).toBeLessThan(replicas)
    for (const labels of [
      template.metadata.labels,
      of('Service').selector,
      of('PodDisruptionBudget').selector.matchLabels,
    ])
      expect(labels).toEqual(selector.matchLabels)
    expect(container.env[0].valueFrom.secretKeyRef.name).toBe('everytick')
  })
})

describe('the workers of the deployment files', () => {
  const WORKER = ['worker', '--http', '--host', '0.0.0.0', '--port', '4411']

  it('start the same command, with time to stop', () => {
    const { worker } = parse(read('compose.yaml')).services
    expect(worker.command).toEqual(WORKER)
    expect(Number.parseInt(worker.stop_grace_period, 10)).toBeGreaterThan(STOP_S)
    expect(worker).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    expect(worker.healthcheck.test.at(-1)).toContain('127.0.0.1:4411/healthz')
  })

  it('are probed and scraped by Kubernetes on the port that they listen on, as servers are', () => {
    const manifests = parseAllDocuments(read('kubernetes.yaml')).map((each) => each.toJS())
    const deployments = manifests.filter(({ kind }) => kind === 'Deployment')
    expect(deployments.map(({ metadata }) => metadata.name)).toEqual(['everytick', 'everytick-worker'])
    for (const { spec } of deployments) {
      const [container] = spec.template.spec.containers
      const port = container.args[container.args.indexOf('--port') + 1]
      expect(container.ports).toEqual([{ name: expect.any(String), containerPort: Number(port) }])
      expect(spec.template.metadata.annotations).toEqual({
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': port,
        'prometheus.io/path': '/metrics',
      })
      const probes = { readinessProbe: '/readyz', livenessProbe: '/healthz', startupProbe: '/healthz' }
      for (const [probe, path] of Object.entries(probes))
        expect(container[probe].httpGet).toEqual({ path, port: container.ports[0].name })
      expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels)
      expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(STOP_S)
    }
    expect(deployments[1].spec.template.spec.containers[0].args).toEqual(WORKER)
  })
})

/** Whether a program is on the PATH. */
const has = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0
const scratch = mkdtempSync(join(tmpdir(), 'everytick-deploy-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

function run(
  program: string,
  args: readonly string[],
  input = '',
): { readonly code: number | null; readonly out: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: join(root, 'deploy'), encoding: 'utf8', input })
  return { code: status, out: `${stdout}${stderr}` }
}

const promtool = has('promtool')
describe.skipIf(!promtool)(`promtool${promtool ? '' : ' (not on the PATH)'}`, () => {
  it('accepts the rules, and sees each fire and stay quiet', () => {
    expect(run('promtool', ['check', 'rules', 'prometheus-rules.yaml'])).toMatchObject({ code: 0 })
    expect(run('promtool', ['test', 'rules', 'prometheus-rules.test.yaml'])).toMatchObject({ code: 0 })
  })

  it('finds nothing wrong with what a server tells', () => {
    expect(run('promtool', ['check', 'metrics'], text)).toEqual({ code: 0, out: '' })
  })

  it('can read every query of the dashboard', () => {
    const plain = (expr: string): string => expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*')
    const recorded = queries.map((expr, i) => ({ record: `dashboard:query${i}`, expr: plain(expr) }))
    const path = join(scratch, 'dashboard.yaml')
    writeFileSync(path, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }))
    expect(run('promtool', ['check', 'rules', path])).toMatchObject({ code: 0 })
  })
})

const systemd = has('systemd-analyze')
describe.skipIf(!systemd)(`systemd-analyze${systemd ? '' : ' (not on the PATH)'}`, () => {
  it('finds nothing wrong with the unit', () => {
    const path = join(scratch, 'everytick.service')
    // The program need not be installed here.
    writeFileSync(path, read('everytick.service').replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
    expect(run('systemd-analyze', ['verify', path])).toEqual({ code: 0, out: '' })
  })
})
