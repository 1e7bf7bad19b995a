import { linesOf } from './doc-shown.ts';

/** A command on a page, with the output that the page shows. Undefined if the page shows only commands. */
export interface DocCommand {
  readonly command: string;
  readonly shown: readonly string[] | undefined;
}

/**
 * Reads the commands of a block. If commands start with `$ `, the other lines are output. Otherwise every line is a
 * command.
 */
export function commandsIn(text: string): DocCommand[] {
  const joined = text.trimEnd().replaceAll(/ *\\\n\s*/g, ' ');
  if (!/^\$ /m.test(joined)) {
    const lines = joined.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
    return lines.map((command) => ({ command, shown: undefined }));
  }
  const [before = '', ...commands] = joined.split(/^\$ /m);
  if (before.trim() !== '') throw new Error(`what does this belong to: ${before}`);
  return commands.map((each) => {
    const [command = '', ...shown] = linesOf(each);
    return { command, shown };
  });
}
