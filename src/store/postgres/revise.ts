/** The SQL by which a change of a schedule is kept as a revision: who, when, and how it was before and after; which changes there are is decided by the verbs. */

/** A definition as people know it, without workspace and key, and the columns it stands in. */
const DEFINITION = {
  ...{ timing: 'timing', job: 'job', queue: 'queue', payload: 'payload', priority: 'priority', policy: 'policy' },
  ...{ catchUp: 'catch_up', firing: 'firing', description: 'description', tags: 'tags', metadata: 'metadata' },
  source: 'source',
}

/** SQL for the definition in a row named `of`. */
export const definitionIn = (of: string): string =>
  `jsonb_build_object(${Object.entries(DEFINITION)
    .map(([name, column]) => `'${name}', ${of}.${column}`)
    .join(', ')})`

/** SQL for a pause, or the lack of one, as a revision tells it. */
export const pauseIn = (pause: string): string => `jsonb_build_object('pause', ${pause})`

const COLUMNS = 'schedule_id, workspace, key, kind, revision, at, by, cut_at, before, after'

/** An insert of the rows that `of` selects, in the order of the columns. */
export const revise = (schema: string, of: string): string => `insert into ${schema}.revisions (${COLUMNS}) ${of}`
