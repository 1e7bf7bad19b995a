/** One setting; without a value it is true, as git has it. */
export interface ConfigEntry {
  /** Section and name in lower case, the part between them as it was written. */
  readonly key: string;
  readonly value: string | undefined;
}

/**
 * What is taken over from the configuration of a repository: how its files are compared, what its branches follow, and
 * how it is stored. Everything else stays behind, and with it every setting that names a program, an address or
 * another file, known or yet to be invented. Without `partialclone` git fetches nothing that is missing.
 */
const kept: readonly RegExp[] = [
  /^core\.(?:repositoryformatversion|filemode|ignorecase|precomposeunicode|autocrlf|eol)$/,
  /^core\.sparsecheckout(?:cone)?$/,
  /^extensions\.(?!partialclone$|worktreeconfig$)[a-z0-9-]+$/,
  /^branch\..+\.(?:remote|merge)$/s,
  /^remote\..+\.fetch$/s,
];

/** Reads what `git config --list -z` says. */
export function parseConfigList(text: string): readonly ConfigEntry[] {
  return text
    .split('\0')
    .filter((record) => record !== '')
    .map((record) => {
      const end = record.indexOf('\n');
      return end === -1
        ? { key: record, value: undefined }
        : { key: record.slice(0, end), value: record.slice(end + 1) };
    });
}

/** The configuration with which git is run on a repository that has these settings. */
export function ownConfig(entries: readonly ConfigEntry[], { bare }: { readonly bare: boolean }): string {
  const own: readonly ConfigEntry[] = [
    { key: 'core.bare', value: String(bare) },
    { key: 'core.quotepath', value: 'false' },
  ];
  const takenOver = entries.filter(({ key }) => kept.some((pattern) => pattern.test(key)));
  return [...takenOver, ...own].map(configLines).join('');
}

function configLines({ key, value }: ConfigEntry): string {
  const first = key.indexOf('.');
  const last = key.lastIndexOf('.');
  const middle = first === last ? '' : ` ${quoted(key.slice(first + 1, last))}`;
  const setting = value === undefined ? '' : ` = ${quoted(value)}`;
  return `[${key.slice(0, first)}${middle}]\n\t${key.slice(last + 1)}${setting}\n`;
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}
