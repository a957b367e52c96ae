/** Drops undefined fields: the options of the scheduler are either absent or set. */
type Defined<T> = { [Key in keyof T]: Exclude<T[Key], undefined> }

export const defined = <T extends object>(given: T): Partial<Defined<T>> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<Defined<T>>
