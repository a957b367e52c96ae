/** Who races on which store, from which package, and how large a share of the load; each one's configuration stands in its own file. */

/** `package` is what must be installed, `processes` how many it may be given, `scale` its share of the load. */
export const CONTENDERS = {
  postgres: [
    { name: 'everytick', file: 'everytick', place: 'postgres', processes: 2 },
    { name: 'pg-boss', file: 'pg-boss', package: 'pg-boss', place: 'postgres', processes: 2 },
    { name: 'graphile-worker', file: 'graphile-worker', package: 'graphile-worker', place: 'postgres', processes: 2 },
    { name: 'bullmq', file: 'bullmq', package: 'bullmq', place: 'redis', processes: 2 },
    { name: 'bullmq-postgres', file: 'bullmq', package: 'bullmq', place: 'postgres', processes: 2, scale: 1 / 20 },
    { name: 'agenda', file: 'agenda', package: 'agenda', place: 'postgres', processes: 2, scale: 1 / 20 },
    { name: 'limit', file: 'limit', place: 'postgres', processes: 1 },
  ],
  // An embedded database lives in one process.
  sqlite: [
    { name: 'everytick', file: 'everytick', place: 'sqlite', processes: 1 },
    { name: 'plainjob', file: 'plainjob', package: 'plainjob', place: 'sqlite', processes: 1 },
    {
      name: 'plainjob-full',
      file: 'plainjob',
      package: 'plainjob',
      place: 'sqlite',
      processes: 1,
      scale: 1 / 20,
      full: true,
    },
    { name: 'sidequest', file: 'sidequest', package: 'sidequest', place: 'sqlite', processes: 1, scale: 1 / 20 },
    { name: 'limit', file: 'limit', place: 'sqlite', processes: 1 },
  ],
}

export const moduleOf = ({ file }) => new URL(`./contenders/${file}.mjs`, import.meta.url).href
