/** A certificate that `hook.test` signed for itself, and its key; worth nothing anywhere else. */

const pem = (label: string, text: string): string => `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`

export const KEY = pem(
  'PRIVATE KEY',
  `MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgc2BL4YXqG1t/2ySS
d6aBYcplr0LR2DybyiJd1pL7nk6hRANCAASekSMCmW23xNsKJTGpKm05g+fAhCR5
1p1VsqWkhyMvbIUtbSjk+TQFH/V1NwEAfzyPv/JjugZedzeboaWyVsBC`,
)

export const CERTIFICATE = pem(
  'CERTIFICATE',
  `MIIBYjCCAQegAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlob29rLnRl
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWhvb2sudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJ6RIwKZbbfE2wol
MakqbTmD58CEJHnWnVWypaSHIy9shS1tKOT5NAUf9XU3AQB/PI+/8mO6Bl53N5uh
pbJWwEKjSDBGMBQGA1UdEQQNMAuCCWhvb2sudGVzdDAPBgNVHRMBAf8EBTADAQH/
MB0GA1UdDgQWBBSAH7YwdYtz07hhWXmX0/pLjvK9JjAKBggqhkjOPQQDAgNJADBG
AiEAqv7WoTha6+mmINk1aVjdzGt8Nld0aOrnNtvTmr3HJY8CIQD1cU3+oheKNjf8
oaNxi8hHgGXQCrzPheH5WkBI45xKmg==`,
)
