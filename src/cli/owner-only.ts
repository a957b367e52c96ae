/** The rights of what the command line creates: files and folders are for their owner, whatever the umask is; what exists keeps its rights. */

/** Configurations, jobs and crontabs may hold addresses with passwords. */
export const OWNER_FILE = 0o600
export const OWNER_FOLDER = 0o700
