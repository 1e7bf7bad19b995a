import { errnoOf, HubError } from '../base/index.ts';

/** Wraps a failed system call on a file of the workspace, with a hint. */
export function fileFailure(error: unknown, doing: string, name: string): HubError {
  const errno = errnoOf(error) ?? 'unknown error';
  return new HubError('CONFIG_INVALID', `Cannot ${doing} ${name} (${errno}); it is as it was.`, {
    cause: error,
    hint: fixes[errno] ?? 'Check the file, its folder and the disk.',
    details: { errno },
  });
}

const fixes: Readonly<Record<string, string>> = {
  EACCES: 'Give yourself the right to write it and its folder.',
  EPERM: 'Give yourself the right to write it and its folder.',
  EROFS: 'The file system is read-only.',
  ENOSPC: 'The disk is full; free some space.',
  EDQUOT: 'The quota is used up; free some space.',
  EISDIR: 'A folder has the name of a file that is needed. Move or rename it.',
  ENOTDIR: 'A file has the name of a folder that is needed. Move or rename it.',
  EEXIST: 'A file has the name of a folder that is needed. Move or rename it.',
};
