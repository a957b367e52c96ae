/** Which build of an app last brought its schedules in line, so that an older one does not undo it. */

export interface AppStore {
  /** Remembers the build if it is not older than the one known; answers the newest known. */
  sync(name: string, build: number): Promise<number>
  /** The newest known, and null when none is. */
  newest(name: string): Promise<number | null>
}
