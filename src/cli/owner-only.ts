/** Permissions of files and folders that the CLI creates: owner only, whatever the umask. Existing files keep theirs. */

/** Configurations, jobs and crontabs may hold addresses with passwords. */
export const OWNER_FILE = 0o600
export const OWNER_FOLDER = 0o700
