import { describe, expect, it } from 'vitest'
import { EverytickError } from '../../errors.ts'
import { failureOf, isAway, isTaken } from './failure.ts'

const failure = (code: string, message = 'words of the driver', more: object = {}): Error =>
  Object.assign(new Error(message), code === '' ? {} : { code }, more)
const server = (code: string, message?: string): Error => failure(code, message, { severity: 'ERROR' })

describe('what the driver throws', () => {
  it.each<[string, Error, string, RegExp, RegExp]>([
    ['an unknown database', server('3D000'), 'STORE_MISSING', /does not exist/, /name of the database/],
    ['a wrong password', server('28P01'), 'STORE_DENIED', /refuses the password/, /role and its password/],
    [
      'an unknown role',
      server('28000', 'role "x" does not exist'),
      'STORE_DENIED',
      /refuses the role/,
      /check the role/,
    ],
    [
      'a role that may not log in',
      server('28000', 'role "x" is not permitted to log in'),
      'STORE_DENIED',
      /log in/,
      /alter role/,
    ],
    [
      'a pooler that hands statements to another session',
      server('26000', 'prepared statement "everytick_1" does not exist'),
      'STORE_UNUSABLE',
      /pooler in transaction mode/,
      /prepare=false&listen=false/,
    ],
    [
      'a pooler whose session has the statement of another client',
      server('42P05', 'prepared statement "everytick_1" already exists'),
      'STORE_UNUSABLE',
      /pooler in transaction mode/,
      /max_prepared_statements/,
    ],
    [
      'no password',
      failure('', 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
      'STORE_DENIED',
      /asks for a password/,
      /add one/,
    ],
    [
      'a missing right',
      server('42501', 'permission denied for schema everytick'),
      'STORE_DENIED',
      /permission denied for schema/,
      /Rights/,
    ],
    [
      'a server that wants TLS',
      server('28000', 'no pg_hba.conf entry for host "::1", user "a", database "b", no encryption'),
      'STORE_TLS',
      /without TLS/,
      /sslmode=require/,
    ],
    [
      'a server without TLS',
      failure('', 'The server does not support SSL connections'),
      'STORE_TLS',
      /does not offer TLS/,
      /sslmode=disable/,
    ],
    ['a self-signed certificate', failure('DEPTH_ZERO_SELF_SIGNED_CERT'), 'STORE_TLS', /not trusted/, /sslrootcert/],
    [
      'a certificate of an unknown issuer',
      failure('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
      'STORE_TLS',
      /not trusted/,
      /sslrootcert/,
    ],
    ['an expired certificate', failure('CERT_HAS_EXPIRED'), 'STORE_TLS', /expired/, /renew/],
    [
      'a certificate of another host',
      failure('ERR_TLS_CERT_ALTNAME_INVALID'),
      'STORE_TLS',
      /another host name/,
      /host name/,
    ],
    ['a broken handshake', failure('ERR_SSL_WRONG_VERSION_NUMBER'), 'STORE_TLS', /certificate/, /sslmode/],
    [
      'a certificate file that is not there',
      failure('ENOENT', "ENOENT: no such file or directory, open '/ca.pem'"),
      'STORE_TLS',
      /\/ca\.pem/,
      /sslrootcert/,
    ],
    ['a closed port', failure('ECONNREFUSED'), 'STORE_UNREACHABLE', /does not listen/, /host and port/],
    [
      'a socket that is not there',
      failure('ENOENT', 'connect ENOENT /tmp/.s.PGSQL.5432'),
      'STORE_UNREACHABLE',
      /does not listen/,
      /socket/,
    ],
    [
      'several closed ports',
      new AggregateError([failure('ECONNREFUSED', 'connect ECONNREFUSED ::1:1')]),
      'STORE_UNREACHABLE',
      /::1:1/,
      /host and port/,
    ],
    [
      'an unknown host',
      failure('ENOTFOUND', 'getaddrinfo ENOTFOUND nowhere'),
      'STORE_UNREACHABLE',
      /nowhere/,
      /check the host/,
    ],
    ['a name server that is away', failure('EAI_AGAIN'), 'STORE_UNREACHABLE', /resolved/, /check the host/],
    ['no route', failure('EHOSTUNREACH'), 'STORE_UNREACHABLE', /network/, /firewalls/],
    ['no answer in time', failure('', 'timeout expired'), 'STORE_UNREACHABLE', /network/, /host and port/],
    [
      'another protocol',
      failure('', 'received invalid response: 48'),
      'STORE_UNREACHABLE',
      /protocol of Postgres/,
      /port/,
    ],
    ['a connection that was cut', failure('ECONNRESET'), 'STORE_UNREACHABLE', /ended the connection/, /ask again/],
    [
      'a pooler without a server',
      server('08P01', 'server login has been failing'),
      'STORE_UNREACHABLE',
      /ended the connection/,
      /ask again/,
    ],
    ['a read-only database', server('25006'), 'STORE_UNREACHABLE', /read-only/, /primary/],
    ['a full disk', server('53100'), 'STORE_FULL', /no disk space/, /free/],
    [
      'a full disk that the server calls an error of a file',
      server('58030', 'could not write to file "pg_wal/xlogtemp.1": No space left on device'),
      'STORE_FULL',
      /pg_wal/,
      /free/,
    ],
    [
      'a file that cannot be extended',
      server('XX000', 'could not extend file "base/5/16401"'),
      'STORE_FULL',
      /base\/5/,
      /free/,
    ],
    [
      'words of a user that speak of a full disk',
      server('22P02', 'invalid input syntax: "no space left on device"'),
      'STORE_UNUSABLE',
      /invalid input/,
      /by hand/,
    ],
    [
      'a certificate file that is a folder',
      failure('EISDIR', 'EISDIR: illegal operation on a directory, read'),
      'STORE_TLS',
      /names a folder/,
      /sslrootcert/,
    ],
    [
      'a certificate file of somebody else',
      failure('EACCES', "EACCES: permission denied, open '/ca.pem'"),
      'STORE_TLS',
      /may not read/,
      /sslkey/,
    ],
    [
      'a database that takes no connections',
      failure('55000', 'database "b" is not currently accepting connections', { severity: 'FATAL' }),
      'STORE_UNUSABLE',
      /refuses the connection.*accepting/,
      /parameters of the address/,
    ],
    [
      'a statement that took longer than the role may',
      server('57014', 'canceling statement due to statement timeout'),
      'STORE_UNUSABLE',
      /cancels a statement/,
      /statement_timeout/,
    ],
    ['no memory', server('53200'), 'STORE_UNREACHABLE', /out of memory/, /log of the server/],
    ['no connection left', server('53300'), 'STORE_UNREACHABLE', /no connection left/, /max_connections/],
    ['a server that starts', server('57P03'), 'STORE_UNREACHABLE', /starting/, /ask again/],
    [
      'a table that is gone',
      server('42P01', 'relation "x" does not exist'),
      'STORE_UNUSABLE',
      /relation "x"/,
      /by hand/,
    ],
  ])('for %s is told by a code of ours with the setting to check', (_, thrown, code, text, hint) => {
    const told = failureOf(thrown, 'postgres a@db/b') as EverytickError
    expect(told).toBeInstanceOf(EverytickError)
    expect(told).toMatchObject({ code, cause: thrown })
    expect(told.message).toMatch(/^postgres a@db\/b /)
    expect(told.message).toMatch(text)
    expect(told.hint).toMatch(hint)
  })

  it('stays as it is when it is not of the database, or ours already', () => {
    const ours = new EverytickError('OPTION_INVALID', 'no')
    for (const other of [new TypeError('a mistake'), failure('ERR_INVALID_ARG_TYPE'), ours])
      expect(failureOf(other, 'postgres')).toBe(other)
  })

  it('is still known for what it was', () => {
    expect(isTaken(failureOf(server('23505'), 'postgres'))).toBe(true)
  })

  it('leaves the connection in use unless the connection is what broke', () => {
    expect([server('57P01'), failure('EPIPE'), server('25006')].map(isAway)).toEqual([true, true, true])
    expect([server('53100'), server('42501'), server('23505')].map(isAway)).toEqual([false, false, false])
  })
})
