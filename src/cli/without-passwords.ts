/** The last gate for errors of the command line: credentials of an address, and passwords named as such, are not repeated, whatever their shape. */

/** Up to the last `@` of the line: a password that nobody encoded may hold anything. */
const CREDENTIALS = /([a-z][a-z0-9+.-]*:\/\/)([^\n]*)@/gi
const NAMED = /((?:pass(?:word|wd)?|pwd|secret|token)\s*=\s*)(?:'[^'\n]*'?|"[^"\n]*"?|[^\s&]+)/gi
/** A user name alone is no secret, nor is the word that stands for a password in our own advice. */
const ROLE = /^[\w.-]+(?::(?:<password>|password))?$/

export const withoutPasswords = (text: string): string =>
  text
    .replace(CREDENTIALS, (whole: string, scheme: string, credentials: string) =>
      /^postgres(?:ql)?:/i.test(scheme) && ROLE.test(credentials) ? whole : `${scheme}<credentials>@`,
    )
    .replace(NAMED, '$1<password>')
