/** The last filter for CLI errors: removes credentials in addresses and values named as passwords. */

/** Up to the last `@` of the line: an unencoded password may contain any character. */
const CREDENTIALS = /([a-z][a-z0-9+.-]*:\/\/)([^\n]*)@/gi
const NAMED = /((?:pass(?:word|wd)?|pwd|secret|token)\s*=\s*)(?:'[^'\n]*'?|"[^"\n]*"?|[^\s&]+)/gi
/** A user name alone is not secret, nor is the placeholder PASSWORD in our hints. */
const ROLE = /^[\w.-]+(?::(?:<password>|password))?$/

export const withoutPasswords = (text: string): string =>
  text
    .replace(CREDENTIALS, (whole: string, scheme: string, credentials: string) =>
      /^postgres(?:ql)?:/i.test(scheme) && ROLE.test(credentials) ? whole : `${scheme}<credentials>@`,
    )
    .replace(NAMED, '$1<password>')
