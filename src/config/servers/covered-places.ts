import { existsSync, realpathSync } from 'node:fs';
import { basename, isAbsolute, join, resolve, sep } from 'node:path';
import { HubError } from '../../base/index.ts';
import type { ServerSpec, TransportSpec } from '../../domain/index.ts';
import { type Finding, quote } from '../findings.ts';
import { coveredCandidates, pathCandidates } from './path-candidates.ts';

export interface CoverOptions {
  readonly workspace: string;
  /** The first is the hub's own state. */
  readonly places: readonly string[];
  /** Folders that the operator lets servers have, whatever lies in them. */
  readonly allowPaths: readonly string[];
  readonly home: string | undefined;
}

/** Places with keys that a server was given. */
export interface Covered {
  /** One that `allowPaths` does not list. */
  readonly refused: Finding | undefined;
  /** Those that it lists. */
  readonly reaches: readonly string[];
}

/**
 * A server whose arguments, variables or working folder contain the hub's state could hand its agents the keys of the hub. The same
 * goes for the user's own keys. Links are followed, because the server would follow them.
 */
export function findCovered(spec: ServerSpec, options: CoverOptions): Covered {
  const reaches = new Set<string>();
  const allowed = allowedFolders(options);
  for (const transport of [spec.transport, ...spec.fallbacks]) {
    for (const reached of reachedPlaces(transport, options)) {
      if (!isAllowed(allowed, reached.path)) return { refused: covered(spec, reached, options), reaches: [] };
      reaches.add(reached.place);
    }
  }
  return { refused: undefined, reaches: [...reaches].sort() };
}

/**
 * Throws HubError if a program would reach more places with keys than when its server was approved: a folder may have
 * become a link since then.
 */
export function checkReach(
  { name: server, reaches }: ServerSpec,
  transport: TransportSpec,
  options: Omit<CoverOptions, 'allowPaths'>,
): void {
  for (const { said, place } of reachedPlaces(transport, options)) {
    if (reaches.includes(place)) continue;
    const command = transport.type === 'stdio' ? transport.command : 'qm builtin';
    throw new HubError('NOT_TRUSTED', `Server "${server}" is not started: it would reach keys or settings.`, {
      hint: `${quote(said.slice(0, 200))} now leads to ${place}. Remove the link, or give the server another folder.`,
      // With a command, agents do not read the hint, which has paths on this machine.
      details: { server, command, reason: 'it would reach keys or settings' },
    });
  }
}

/** Whether agents may have a folder, given as its real path: it is in the workspace or allowed, and has no keys in it. */
export function mayHaveFolder(path: string, options: CoverOptions): boolean {
  if (isAllowed(allowedFolders(options), path)) return true;
  return contains(real(options.workspace), path) && placeReached(path, options.places) === undefined;
}

interface Reached {
  /** As it is written. */
  readonly said: string;
  /** Where it leads. */
  readonly path: string;
  readonly place: string;
}

function* reachedPlaces(transport: TransportSpec, options: Omit<CoverOptions, 'allowPaths'>): Generator<Reached> {
  if (transport.type !== 'stdio' && transport.type !== 'builtin') return;
  const { args, cwd, env } = transport;
  // A program that starts in the workspace was not given it.
  const folders = cwd === options.workspace ? [] : [cwd];
  const values = Object.entries(env).flatMap(([name, value]) => (givenAnyway.has(name) ? [] : [value]));
  const isShell = transport.type === 'stdio' && shellNames.test(transport.command);
  const words = [...args, ...values].flatMap((text) => coveredCandidates(text, { home: options.home, cwd, isShell }));
  for (const [index, said] of [...folders, ...words].entries()) {
    const named = resolve(cwd, said);
    const path = index < maxFollowed ? real(named) : named;
    const place = placeReached(path, options.places);
    if (place !== undefined) yield { said, path, place };
  }
}

function placeReached(path: string, places: readonly string[]): string | undefined {
  return places.find((each, index) => contains(path, each) || (isOurs(each, index) && contains(each, path)));
}

/** Bounds the work. Beyond, paths are compared as they are written. */
const maxFollowed = 4096;

/** The hub's own folders: the state, and the settings of the user. A single file in them is too much. */
function isOurs(place: string, index: number): boolean {
  return index === 0 || basename(place) === 'quartermaster';
}

const shellNames = /(?:^|\/)(?:ba|da|fi|k|z)?sh$/;

/** A program gets these in any case. */
const givenAnyway: ReadonlySet<string> = new Set([
  'HOME',
  'PATH',
  'SHELL',
  'TMPDIR',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
]);

function allowedFolders(options: CoverOptions): readonly string[] {
  return options.allowPaths.map((path) => real(untilded(path, options)));
}

function isAllowed(allowed: readonly string[], path: string): boolean {
  return allowed.some((each) => contains(each, path));
}

function untilded(path: string, { home, workspace }: CoverOptions): string {
  if (home !== undefined && (path === '~' || path.startsWith('~/'))) return join(home, path.slice(1));
  return isAbsolute(path) ? path : join(workspace, path);
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

function covered({ name, source }: ServerSpec, { said, place }: Reached, { places }: CoverOptions): Finding {
  const what = place === places[0] ? "the hub's own keys and audit log" : 'your keys or settings';
  return {
    severity: 'error',
    line: source.line,
    server: name,
    message: `Server ${quote(name)} is given ${quote(said.slice(0, 200))}, which reaches ${place} with ${what}. Its agents could read or change them.`,
    fix: 'Give it a narrower folder. If you mean it, list the folder under allowPaths in quartermaster.yaml.',
  };
}

/** Not a reason to refuse: agents may need the folder, and the operator should know what else is in it. */
export function findReadable(spec: ServerSpec, { workspace }: Pick<CoverOptions, 'workspace'>): Finding | undefined {
  const { transport } = spec;
  if (transport.type !== 'stdio' || !fileServer.test([transport.command, ...transport.args].join(' ')))
    return undefined;
  const paths = transport.args.flatMap(pathCandidates).map((said) => real(resolve(transport.cwd, said)));
  const secrets = real(join(workspace, '.env'));
  if (!existsSync(secrets) || !paths.some((path) => contains(path, secrets))) return undefined;
  return {
    severity: 'warning',
    line: spec.source.line,
    server: spec.name,
    message: `Server ${quote(spec.name)} can read .env in the workspace.`,
    fix: 'Give it a narrower folder, or move the secrets with `qm secret set NAME`.',
  };
}

const fileServer = /filesystem|desktop-commander|server-files|mcp-files/i;
