/** The last gate for errors of the command line: credentials of an address, and passwords named as such, are not repeated, whatever their shape. */

/** Up to the last `@` of the line, because a password that is not encoded may hold any character. A user name alone is no secret. */
const CREDENTIALS = /([a-z][a-z0-9+.-]*:\/\/)(?!\w+@[^@\n]*$)[^\n]*@/gim
const NAMED = /((?:pass(?:word|wd)?|pwd|secret|token)\s*=\s*)(?:'[^'\n]*'?|"[^"\n]*"?|[^\s&]+)/gi

export const withoutPasswords = (text: string): string =>
  text.replace(CREDENTIALS, '$1<credentials>@').replace(NAMED, '$1<password>')
