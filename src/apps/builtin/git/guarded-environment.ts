/**
 * For every run of git, whatever the repository's settings say: no network and no program of a remote, also not for objects
 * that are missing, no index written, and messages in one language.
 */
export const guardedGitEnvironment = {
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  LC_ALL: 'C.UTF-8',
} as const;
