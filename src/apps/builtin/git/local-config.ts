/** One setting. Without a value it is true, as in git. */
export interface ConfigEntry {
  /** Section and name in lower case, the subsection as written. */
  readonly key: string;
  readonly value: string | undefined;
}

/**
 * The settings taken over from a repository's configuration: how its files are compared, which branches its branches
 * track, and how it is stored. Everything else is dropped, including every setting that names a program, an address or
 * another file, known or yet to be invented. Without `partialclone` git does not fetch missing objects.
 */
const kept: readonly RegExp[] = [
  /^core\.(?:repositoryformatversion|filemode|ignorecase|precomposeunicode|autocrlf|eol)$/,
  /^core\.sparsecheckout(?:cone)?$/,
  /^extensions\.(?!partialclone$|worktreeconfig$)[a-z0-9-]+$/,
  /^branch\..+\.(?:remote|merge)$/s,
  /^remote\..+\.fetch$/s,
];

/** Parses the output of `git config --list -z`. */
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

/** The configuration that git runs with, given the repository's settings. */
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
