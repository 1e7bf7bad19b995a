import { join } from 'node:path';
import { HubError } from '../../../base/index.ts';
import type { SourceText } from '../../../config/index.ts';
import { type Configuration, type Problem, placeOf, type SourceRef } from '../../../domain/index.ts';
import { emittedFrom, type OpenedFile, openFile, takeSteps } from '../../../workspace-files/index.ts';
import type { CliContext } from '../context.ts';
import { refuseBrokenFile, tryOut } from './config-change.ts';
import { loadWithUses, loadWorkspace } from './load-workspace.ts';
import { isServerFile, locateServer } from './locate-server.ts';
import { unknownServer } from './unknown-server.ts';

/** One file without the server. */
export interface FileWithout {
  readonly file: string;
  readonly opened: OpenedFile;
  /** Undefined: the file is of this server alone, so it goes. */
  readonly text: string | undefined;
}

export interface Removal {
  readonly source: SourceRef;
  readonly files: readonly FileWithout[];
  /** What names the server and would then name nothing. */
  readonly dangling: readonly Problem[];
  /** The entry of a weaker file that would take its place. */
  readonly successor: SourceRef | undefined;
}

/** What removing a server would change. Throws if that is not possible without an editor. */
export async function planRemoval(cli: CliContext, workspace: string, name: string): Promise<Removal> {
  const before = await loadWorkspace(cli, workspace);
  const source = sourceOf(before, name);
  if (source === undefined) {
    // The server may be in the file that cannot be read.
    refuseBrokenFile(before);
    throw unknownServer(name, before.servers.keys());
  }
  refuseBrokenFile(before, [source.file]);
  const files = await filesWithout(cli, workspace, name, source);
  const instead = new Map(
    files.map(({ file, text }): [string, SourceText] => [
      file,
      text === undefined ? { kind: 'absent' } : { kind: 'text', text },
    ]),
  );
  const { configuration: after } = await loadWithUses(cli, workspace, undefined, instead);
  return { source, files, dangling: newProblems(before, after), successor: sourceOf(after, name) };
}

function sourceOf({ servers }: Configuration, name: string): SourceRef | undefined {
  const server = servers.get(name);
  return server?.kind === 'ready' ? server.spec.source : server?.source;
}

/** A file made by `qm sync` goes with its source. */
async function filesWithout(
  cli: CliContext,
  workspace: string,
  name: string,
  source: SourceRef,
): Promise<readonly FileWithout[]> {
  const open = (file: string): Promise<OpenedFile> => openFile(cli, join(workspace, file), file);
  const { file } = source;
  const opened = await open(file);
  const origin = emittedFrom(opened.text ?? '');
  if (origin !== undefined) {
    const made = { file, opened, text: undefined };
    const from = await open(origin);
    return from.text === undefined ? [made] : [{ file: origin, opened: from, text: undefined }, made];
  }
  return [{ file, opened, text: await textWithout(cli, name, source, opened.text ?? '') }];
}

async function textWithout(
  cli: CliContext,
  name: string,
  source: SourceRef,
  text: string,
): Promise<string | undefined> {
  const { file } = source;
  const place = locateServer(text, name, source);
  const removed =
    place === undefined || place.path.length === 0
      ? undefined
      : takeSteps(text, place.tree.dialect, [{ kind: 'remove', path: place.path }]);
  if (removed?.kind === 'taken') {
    const without = joinBlankLines(removed.after, removed.splices[0]?.at ?? 0);
    const { servers, problems } = await tryOut(cli.env, [{ file, text: without }]);
    const isBroken = problems.some((problem) => problem.severity === 'error' && problem.server === undefined);
    if (!servers.has(name) && !isBroken) return without;
  }
  if (isServerFile(file)) return undefined;
  throw new HubError('USAGE', `Server ${name} is in ${placeOf(source)}, in a form that this command cannot edit.`, {
    hint: `Remove it there with an editor, or switch it off with \`qm disable ${name}\`.`,
  });
}

/** Leaves one of two blank lines that were before and after what was removed. */
function joinBlankLines(text: string, at: number): string {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const isAfterBlank = /(?:^|\n)[ \t]*\r?\n$/.test(text.slice(Math.max(0, start - 200), start));
  const blank = /^[ \t]*\r?\n/.exec(text.slice(start, start + 200))?.[0];
  return isAfterBlank && blank !== undefined ? text.slice(0, start) + text.slice(start + blank.length) : text;
}

/** Lines move when a file loses some, so problems are compared without them. */
function newProblems(before: Configuration, after: Configuration): Problem[] {
  const keyOf = ({ file, message }: Problem): string => JSON.stringify([file, message]);
  const known = new Set(before.problems.map(keyOf));
  return after.problems.filter((problem) => problem.server === undefined && !known.has(keyOf(problem)));
}
