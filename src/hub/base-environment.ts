/** The variables of the hub's environment that a child gets. All others must be configured. */
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
    // Bash treats a value that begins like this as a function.
    if (value !== undefined && !value.startsWith('()')) base[name] = value;
  }
  return base;
}
