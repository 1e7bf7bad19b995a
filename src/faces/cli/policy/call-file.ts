import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { errnoOf, HubError } from '../../../base/index.ts';
import { type CallLine, parseCallLine } from '../../../ledger/index.ts';

/** Visits the calls of a file with one in each line. Undefined: a line that is no call. */
export async function visitCallFile(
  path: string,
  { since = -Infinity }: { readonly since?: number },
  visit: (call: CallLine | undefined) => void,
): Promise<void> {
  try {
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
      if (line.trim() === '') continue;
      const call = parseCallLine(line);
      if (call === undefined || !(Date.parse(call.ts) < since)) visit(call);
    }
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    throw new HubError('USAGE', `The calls ${path} cannot be read (${errno}).`, {
      hint: 'Name a file that `qm calls --json` wrote, or a run file from .runs, with --calls.',
      cause: error,
    });
  }
}
