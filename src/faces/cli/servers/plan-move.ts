import { HubError } from '../../../base/index.ts';
import type { FoundLiteral, LoadedConfiguration } from '../../../config/index.ts';
import type { ConfiguredServer } from '../../../domain/index.ts';
import { checkSecretName } from '../../../vault/index.ts';
import { isEmitted, replacePart } from '../../../workspace-files/index.ts';
import { locateServer } from './locate-server.ts';
import { isSameServers } from './same-servers.ts';

/** A secret in a file, the name it gets in the store, and the file with the variable in its place. */
export interface MovePlan {
  readonly literal: FoundLiteral;
  readonly name: string;
  /** The text with the variable, of which the secret may be a part. */
  readonly written: string;
  readonly before: string;
  readonly after: string;
}

export interface MoveScene {
  readonly loaded: LoadedConfiguration;
  readonly stored: ReadonlyMap<string, string>;
  /** The configuration with one file and one secret changed. */
  tryOut(file: string, text: string, secret: readonly [name: string, value: string]): Promise<LoadedConfiguration>;
}

/** Throws if the file cannot be changed so that every server stays as it is. */
export async function planMove(scene: MoveScene, literal: FoundLiteral, wanted: string | undefined): Promise<MovePlan> {
  const { write } = literal;
  const source = scene.loaded.sources.get(literal.file)?.source;
  if (write === undefined || source?.kind !== 'text') throw cannotMove(literal, 'its texts contain no variables');
  if (isEmitted(source.text)) throw cannotMove(literal, '`qm sync` writes this file, and a change there would be lost');
  for (const name of namesFor(scene, literal, wanted)) {
    const plan = editFor(scene, literal, { name, variable: write(name), before: source.text });
    if (plan === undefined) break;
    const after = await scene.tryOut(literal.file, plan.after, [name, literal.value]);
    if (isSameServers(scene.loaded.configuration, after.configuration) && !isLeft(after, literal)) return plan;
  }
  throw cannotMove(literal, 'its form cannot be edited without changing something else');
}

/** A name that a server uses already may have another value, so it is not taken unless the value is stored. */
function namesFor({ loaded, stored }: MoveScene, literal: FoundLiteral, wanted: string | undefined): string[] {
  const { variable, value, server } = literal;
  const has = (name: string): boolean => stored.get(name) === value;
  if (wanted !== undefined) {
    checkSecretName(wanted);
    if (stored.has(wanted) && !has(wanted)) throw taken(wanted, 'is stored with another value');
    return [wanted];
  }
  const prefix = upperSnake(server);
  const longer = variable.startsWith(prefix) ? variable : `${prefix}_${variable}`;
  const same = [...stored].flatMap(([name, known]) => (known === value ? [name] : []));
  const names = [...same, variable, longer, ...[2, 3, 4, 5].map((number) => `${longer}_${number}`)];
  const free = names.filter((name) => has(name) || !(stored.has(name) || loaded.uses.has(name)));
  if (free.length === 0) throw taken(variable, 'and names like it are in use');
  return free;
}

function upperSnake(name: string): string {
  return name
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_');
}

function taken(name: string, why: string): HubError {
  return new HubError('USAGE', `${name} ${why}. Nothing was changed.`, { hint: 'Choose another name with --as NAME.' });
}

function editFor(
  { loaded }: MoveScene,
  literal: FoundLiteral,
  { name, variable, before }: { readonly name: string; readonly variable: string; readonly before: string },
): MovePlan | undefined {
  const { server: owner, at, value } = literal;
  const server = loaded.configuration.servers.get(owner);
  const place = server === undefined ? undefined : locateServer(before, owner, sourceOf(server));
  if (place === undefined) return undefined;
  const { field, line, text } = at;
  const order = { part: value, by: variable };
  const edited = replacePart(before, place.tree.dialect, { within: place.path, field, line, text }, order);
  if (edited.kind !== 'edited') return undefined;
  return { literal, name, written: text.replaceAll(value, () => variable), before, after: edited.text };
}

function sourceOf(server: ConfiguredServer): { readonly file: string; readonly line?: number } {
  return server.kind === 'ready' ? server.spec.source : server.source;
}

function isLeft({ literals }: LoadedConfiguration, { server, file, at, value }: FoundLiteral): boolean {
  return literals.some(
    (each) => each.server === server && each.file === file && each.at.field === at.field && each.value === value,
  );
}

function cannotMove({ server, file, at }: FoundLiteral, why: string): HubError {
  return new HubError('USAGE', `Server ${server}: "${at.field}" in ${file} cannot be moved: ${why}.`, {
    hint: 'Store the value with `qm secret set NAME`, and write the variable into the file with an editor.',
  });
}
