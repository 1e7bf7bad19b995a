import { errnoOf, HubError } from '../../base/index.ts';

/** Wraps a failed system call on the hub's own files, with a hint for the operator. */
export function fileError(error: unknown, doing: string, path: string): HubError {
  if (error instanceof HubError) return error;
  const errno = errnoOf(error) ?? 'unknown error';
  return new HubError('CONFIG_INVALID', `Cannot ${doing} ${path} (${errno}).`, {
    cause: error,
    hint: fixFor(errno, path),
    details: { path, errno },
  });
}

function fixFor(errno: string, path: string): string {
  switch (errno) {
    case 'EACCES':
    case 'EPERM':
      return 'Give the user that runs Quartermaster ownership of it, or choose another workspace.';
    case 'EROFS':
      return 'The file system is read-only; choose a workspace that can be written.';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'The disk or the quota is full; free some space. Until then, `qm stop` and commands that only read still work.';
    case 'ENOENT':
    case 'ENOTDIR':
      return 'Check that the workspace is an existing folder.';
    default:
      return `Check ${path} and its disk.`;
  }
}
