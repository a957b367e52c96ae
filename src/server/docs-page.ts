/** Renders the OpenAPI document as one HTML page without scripts or external resources. */
import { escaped, htmlPage } from './html.ts'

type Node = { readonly [key: string]: unknown }

export function docsPage(document: Node): Response {
  const { title } = document.info as { title: string }
  return htmlPage(`${title} REST`, pageText(document))
}

function pageText(document: Node): string {
  const info = document.info as Node
  const base = (document.servers as { url: string }[])[0]!.url
  const paths = Object.entries(document.paths as Record<string, Record<string, Node>>)
  const operations = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const tags = (document.tags as { name: string }[]).map(({ name }) => name)
  const sections = tags.map((tag) => {
    const own = operations.filter(({ operation }) => (operation.tags as string[])[0] === tag)
    return `<h2 id="${escaped(tag)}">${escaped(tag)}</h2>${own.map((each) => operationText(base, each)).join('')}`
  })
  const schemas = Object.entries((document.components as { schemas: Record<string, unknown> }).schemas)
  return `<h1>${escaped(info.title)} <span class="soft">REST ${escaped(info.version)}</span></h1>
<p>${escaped(info.description)} The document itself: <a href="${escaped(base)}/openapi.json">openapi.json</a>.</p>
<p>${tags.map((tag) => `<a href="#${escaped(tag)}">${escaped(tag)}</a>`).join(' · ')} · <a href="#schemas">schemas</a></p>
${sections.join('\n')}
<h2 id="schemas">schemas</h2>${schemas.map(([name, schema]) => `<details id="schema-${escaped(name)}"><summary>${escaped(name)}</summary>${json(schema)}</details>`).join('')}`
}

interface Entry {
  readonly path: string
  readonly method: string
  readonly operation: Node
}

function operationText(base: string, { path, method, operation }: Entry): string {
  const parameters = operation.parameters as Node[]
  const body = (operation.requestBody as { content: Record<string, Node> } | undefined)?.content['application/json']
  const answers = Object.entries(operation.responses as Record<string, Node>)
  const rows = parameters.map(
    (each) =>
      `<tr><td><code>${escaped(each.name)}</code></td><td>${escaped(each.in)}${each.required ? ', required' : ''}</td><td>${json(each.schema)}</td></tr>`,
  )
  return `<details id="${escaped(operation.operationId)}"><summary><b>${escaped(method.toUpperCase())}</b> <code>${escaped(base + path)}</code> <span class="soft">${escaped(operation.summary)}</span></summary>
<p class="soft">needs ${escaped(operation['x-scope'])}${operation['x-reach'] === 'fleet' ? ', of all workspaces' : ''}</p>
${rows.length > 0 ? `<table>${rows.join('')}</table>` : ''}${body ? `<p>body</p>${json(body.schema)}` : ''}
<table>${answers.map(([status, answer]) => `<tr><td>${escaped(status)}</td><td>${escaped(answer.description)}</td></tr>`).join('')}</table></details>`
}

const json = (schema: unknown): string => `<pre>${escaped(JSON.stringify(schema, null, 2))}</pre>`
