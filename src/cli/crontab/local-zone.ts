/** Says which zone this machine is set to, in which cron reads times. */

export const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone
