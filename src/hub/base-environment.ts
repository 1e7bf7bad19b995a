/** What a child may know of the hub's own environment; everything else has to be configured. */
const passedOn: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TERM',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

export function baseEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const base: Record<string, string> = {};
  for (const name of passedOn) {
    const value = env[name];
    // A value that begins so is a shell function in disguise.
    if (value !== undefined && !value.startsWith('()')) base[name] = value;
  }
  return base;
}
