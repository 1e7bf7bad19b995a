import { HubError } from '../../../base/index.ts';
import { type Lockfile, lockfileName } from '../../../config/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { awaitTakeUp } from '../hub/hub-take-up.ts';
import { withHub } from '../hub/join-hub.ts';
import { noLockfile } from './accept-in-hub.ts';
import { type ComparedServer, type Comparison, compareLockfile } from './compare-lockfile.ts';
import { labelOf } from './definition-labels.ts';
import { changeLines, diffLinesOf, summaryLine, uncheckedLine, waitingLine, writtenLine } from './lock-lines.ts';
import type { LockAnswer } from './lock-shapes.ts';
import { lockedServer, withAccepted } from './locked-server.ts';
import { type WrittenLockfile, writeLockfile } from './write-lockfile.ts';

export interface LockArguments {
  readonly check?: boolean;
  readonly diff?: boolean;
  readonly fresh?: boolean;
  readonly foreground?: boolean;
}

/** `qm lock`: writes the lockfile, or with `--check` and `--diff` only compares. */
export async function lock(
  cli: CliContext,
  invocation: Invocation,
  names: readonly string[],
  options: LockArguments,
): Promise<void> {
  const { foreground, fresh } = options;
  const some = names.length === 0 ? undefined : names;
  const compared = await compareLockfile(cli, invocation, { names: some, foreground, fresh });
  if (options.check === true || options.diff === true) {
    if (options.check === true && compared.lockfile === undefined) throw noLockfile();
    show(cli, invocation, compared, undefined, options.diff === true);
    if (options.check === true && compared.servers.some(differs)) cli.exitWith(1);
    return;
  }
  if (some !== undefined && compared.lockfile === undefined) throw noLockfile();
  const result = await writeLockfile(cli, invocation.workspace, {
    servers: compared.servers.map(({ server }) => server),
    fresh,
    change: (before) => relocked(before, compared, some === undefined),
  });
  await conclude(cli, invocation, compared, result);
  if (compared.servers.some(({ listed }) => listed === undefined)) cli.exitWith(1);
}

/** `qm lock accept`: of what changed, only what is named. */
export async function accept(
  cli: CliContext,
  invocation: Invocation,
  words: readonly string[],
  { foreground }: Pick<LockArguments, 'foreground'>,
): Promise<void> {
  const compared = await compareLockfile(cli, invocation, { names: undefined, foreground });
  const { lockfile, servers, configuration } = compared;
  if (lockfile === undefined) return acceptSeen(cli, invocation, words, compared);
  const chosen = servers.flatMap((server) => {
    const changes = server.changes.filter((change) => words.some((word) => isMeant(word, server.server, change)));
    return changes.length === 0 ? [] : [{ ...server, changes }];
  });
  for (const word of words) {
    const meant = meanings(word, chosen);
    if (meant.length === 0) throw nothingToAccept(word);
    if (meant.length > 1) throw severalMeanings(word, meant);
  }
  const result = await writeLockfile(cli, invocation.workspace, {
    servers: chosen.map(({ server }) => server),
    change(before = new Map()) {
      const after = new Map(before);
      for (const { server, listed, changes } of chosen) {
        const accepted = changes.flatMap(({ kind, name, from }) => {
          const fingerprint = listed?.definitions.find((each) => each.kind === kind && each.name === name)?.fingerprint;
          return [{ kind, name, fingerprint }, ...(from === undefined ? [] : [{ kind, name: from }])];
        });
        after.set(server, withAccepted(before.get(server), accepted));
      }
      return after;
    },
  });
  await conclude(cli, invocation, { lockfile, servers: chosen, configuration }, result);
}

/** Without a lockfile, a server's definitions are accepted as a whole, and nothing is written to the workspace. */
async function acceptSeen(
  cli: CliContext,
  invocation: Invocation,
  words: readonly string[],
  compared: Comparison,
): Promise<void> {
  const chosen = compared.servers.filter(({ server, changes }) => words.includes(server) && changes.length > 0);
  const other = words.find((word) => !chosen.some(({ server }) => server === word));
  if (other !== undefined) throw nothingToAccept(other);
  const names = chosen.map(({ server }) => server);
  await withHub(cli, invocation, {}, (hub) => hub.operate({ name: 'accept-listed', params: { servers: names } }));
  show(cli, invocation, { ...compared, servers: chosen }, undefined, false);
}

/** Entries of servers that did not answer stay. With all servers, entries that nothing configures go. */
function relocked(before: Lockfile | undefined, { servers, configuration }: Comparison, isAll: boolean): Lockfile {
  const kept = [...(before ?? [])].filter(([name]) => !isAll || configuration.servers.has(name));
  const after = new Map(kept);
  for (const { server, listed } of servers) {
    if (listed !== undefined) after.set(server, lockedServer(listed, before?.get(server)));
  }
  return after;
}

async function conclude(
  cli: CliContext,
  invocation: Invocation,
  compared: Comparison,
  result: WrittenLockfile,
): Promise<void> {
  const [first] = compared.servers;
  if (result.written && first !== undefined) {
    await awaitTakeUp(cli, invocation.workspace, { server: first.server, files: [lockfileName], isThere: () => true });
  }
  show(cli, invocation, compared, result, false);
  if (result.waits.length > 0) cli.exitWith(6);
}

function differs({ listed, changes }: ComparedServer): boolean {
  return listed === undefined || changes.length > 0;
}

function show(
  { terminal }: CliContext,
  { json }: Invocation,
  compared: Comparison,
  result: WrittenLockfile | undefined,
  withDiff: boolean,
): void {
  const { servers, lockfile } = compared;
  const { written = false, waits = [] } = result ?? {};
  if (json) {
    terminal.out(JSON.stringify(toAnswer(compared, written, waits)));
    return;
  }
  for (const each of servers) {
    const lines = withDiff ? diffLinesOf(each, terminal.colours) : changeLines(each, terminal.colours);
    for (const line of lines) terminal.out(line);
    if (each.listed === undefined) terminal.err(uncheckedLine(each.server, lockfile?.has(each.server) === true));
  }
  terminal.err(written && result !== undefined ? writtenLine(result.lockfile) : summaryLine(compared));
  if (waits.length > 0) terminal.err(waitingLine(waits));
}

function toAnswer({ servers, lockfile }: Comparison, written: boolean, waits: readonly string[]): LockAnswer {
  return {
    file: lockfileName,
    existed: lockfile !== undefined,
    written,
    servers: servers.map(({ server, listed, changes }) => ({
      server,
      listed: listed !== undefined,
      changes: [...changes],
    })),
    waits: [...waits],
  };
}

function isMeant(word: string, server: string, change: Parameters<typeof labelOf>[0]): boolean {
  return word === server || word === `${server}.${labelOf(change)}`;
}

/** A server chooses the names of its tools, and could have one accepted together with what the operator means. */
function meanings(word: string, servers: readonly ComparedServer[]): readonly string[] {
  return servers.flatMap(({ server, changes }) => [
    ...(word === server ? [`everything of server ${server}`] : []),
    ...changes
      .filter((change) => word === `${server}.${labelOf(change)}`)
      .map(({ kind, name }) => `${kind === 'instructions' ? kind : `${kind} "${name}"`} of server ${server}`),
  ]);
}

function severalMeanings(word: string, meant: readonly string[]): HubError {
  return new HubError('USAGE', `"${word.slice(0, 200)}" may mean ${meant.join(' or ')}; nothing was accepted.`, {
    hint: 'Accept everything of one server, or use the API, which names the kind.',
  });
}

function nothingToAccept(word: string): HubError {
  return new HubError('USAGE', `"${word.slice(0, 200)}" names no definition that differs from ${lockfileName}.`, {
    hint: '`qm lock --diff` lists what differs. Write SERVER, SERVER.TOOL, SERVER.prompt:NAME or SERVER.instructions.',
  });
}
