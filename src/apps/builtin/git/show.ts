import { z } from 'zod';
import { defineTool, type ServedTool } from '../../serving/index.ts';
import { lookingOnly, pathArgument, refArgument, statArgument } from './arguments.ts';
import { statOptions } from './diff.ts';
import type { GitTools } from './git-calls.ts';
import { pathInside } from './paths.ts';
import { commitOf } from './revisions.ts';
import { cutNote, wholeLines } from './text.ts';

/** The header and message; the changes follow after an empty line. */
const format =
  '--format=format:commit %H%nparents %P%nauthor %aN <%aE> %aI%ncommitter %cN <%cE> %cI%n%n%w(0,4,4)%B%w(0,0,0)';

export function gitShow({ calls, repository, maxBytes }: GitTools): ServedTool {
  return defineTool({
    name: 'git_show',
    title: 'One commit',
    description: 'Shows one commit: message, author, date and changes. A merge commit shows only resolved conflicts.',
    annotations: lookingOnly,
    input: z.strictObject({
      commit: refArgument.describe('A hash, branch or tag, or an expression such as HEAD~2.'),
      path: pathArgument.optional(),
      stat: statArgument.optional(),
    }),
    async run({ commit, path: given, stat }, call) {
      const path = await pathInside(repository, given);
      const output = await calls.onRepository(repository, call, async (git) => {
        const hash = await commitOf(git, commit);
        const changes = stat === true ? statOptions : ['--patch'];
        const limits = path === undefined ? [] : [path];
        return git.run(['show', format, ...changes, hash, '--', ...limits]);
      });
      const note = output.cut ? cutNote(maxBytes, 'Give a path, or stat: true.') : '';
      return { text: wholeLines(output) + note };
    },
  });
}
