/** The time zone of this machine, in which cron reads times. */

export const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone
