import { isJsonObject } from '../../../base/index.ts';
import { type Lockfile, lockfileName } from '../../../config/index.ts';
import type { Colours } from '../terminal/colours.ts';
import { diffLines } from '../terminal/line-diff.ts';
import { plural } from '../terminal/plural.ts';
import { printable, printableLine } from '../terminal/printable.ts';
import type { ComparedChange, ComparedServer, Comparison } from './compare-lockfile.ts';
import { changeWords } from './definition-labels.ts';

/** `notes.read changed`, one per line. */
export function changeLines({ server, changes }: ComparedServer, { yellow, green, dim }: Colours): readonly string[] {
  const paints = { changed: yellow, renamed: yellow, new: green, removed: dim };
  return changes.map((change) => paints[change.change](printableLine(`${server}.${changeWords(change)}`)));
}

/** The same with the lines of each definition that went and came. */
export function diffLinesOf(compared: ComparedServer, colours: Colours): readonly string[] {
  const titles = changeLines(compared, colours);
  return compared.changes.flatMap((change, index) => [titles[index] ?? '', ...definitionDiff(change, colours)]);
}

function definitionDiff({ before, after, change }: ComparedChange, { red, green, dim }: Colours): readonly string[] {
  const lines = diffLines(readable(before), readable(after)).map(({ kind, text }) =>
    kind === 'removed' ? red(`  - ${printable(text)}`) : green(`  + ${printable(text)}`),
  );
  const isUnseen = before === undefined && change !== 'new';
  return isUnseen ? [dim('  The accepted definition was never seen on this machine.'), ...lines] : lines;
}

/** A definition is JSON, with one member per line; instructions are text. */
function readable(text: string | undefined): string {
  if (text === undefined) return '';
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? JSON.stringify(value, undefined, 2) : text;
  } catch {
    return text;
  }
}

export function uncheckedLine(server: string, hasEntry: boolean): string {
  const then = hasEntry ? 'its entry stays as it was' : 'it has no entry, so agents get none of its tools';
  return `Server ${server} did not list its definitions; ${then}. \`qm doctor ${server}\` says why.`;
}

export function writtenLine(lockfile: Lockfile): string {
  const counts = [...lockfile.values()].map(
    ({ instructions, tool, prompt, template }) =>
      tool.size + prompt.size + template.size + (instructions === undefined ? 0 : 1),
  );
  const definitions = counts.reduce((sum, count) => sum + count, 0);
  return `Wrote ${lockfileName}: ${plural(definitions, 'definition')} of ${plural(lockfile.size, 'server')}.`;
}

export function summaryLine({ servers, lockfile }: Comparison): string {
  const changes = servers.reduce((sum, each) => sum + each.changes.length, 0);
  if (changes === 0) {
    return lockfile === undefined
      ? 'No definition has changed since it was first seen.'
      : `${lockfileName} is up to date.`;
  }
  const reference = lockfile === undefined ? 'differ from those seen first' : `differ from ${lockfileName}`;
  return `${plural(changes, 'definition')} ${reference}. \`qm lock --diff\` shows them; \`qm lock accept SERVER.TOOL\` accepts one.`;
}

export function waitingLine(servers: readonly string[]): string {
  return `Earlier changes of ${servers.join(', ')} wait for approval, so the file does not count for them yet. Run \`qm trust ${servers.join(' ')}\`.`;
}
