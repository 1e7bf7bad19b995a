import { HubError } from '../../base/index.ts';
import type { StdioTransportSpec } from '../../domain/index.ts';

/**
 * The program as it is started. An agent with file tools can write in the working folder; a program with a guard takes
 * neither settings nor code from there. The folder itself stays, because arguments and the server refer to it.
 */
export function guardedProgram(server: string, program: StdioTransportSpec): StdioTransportSpec {
  const { guard, args, env } = program;
  // Only as an option does npm take another folder for its project, with `.npmrc`, `package.json` and packages. It must
  // exist; no agent writes in the root.
  if (guard === 'npm') return { ...program, args: ['--prefix=/', ...args] };
  // Python 3.11 and newer. `-P` would do the same, but earlier versions refuse to start with it.
  if (guard === 'python') return { ...program, env: { ...env, PYTHONSAFEPATH: '1' } };
  if (guard === 'unapproved') {
    const message = `Server "${server}" is not started: it would run code of the workspace that nobody approved.`;
    throw new HubError('NOT_TRUSTED', message, { hint: `Run \`qm trust ${server}\`.`, details: { server } });
  }
  return program;
}
