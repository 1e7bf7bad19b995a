import { HubError } from '../../../base/index.ts';
import { checkSecretName, type KeyPlaceKind } from '../../../vault/index.ts';
import { openRecordedSecrets } from '../acts/recorded-secrets.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { takeUpLine } from '../hub/hub-take-up.ts';
import { stateLayout } from '../hub/state-layout.ts';
import { nameHint } from '../name-hint.ts';
import { loadWithUses, openSecretBook } from '../servers/load-workspace.ts';
import type { SecretList, SecretRemoved, SecretRotated, SecretSet } from '../state-shapes.ts';
import { plural } from '../terminal/plural.ts';
import { readSecretValue } from '../terminal/secret-value.ts';
import { renderTable } from '../terminal/table.ts';
import { keyLine, newKeyLine } from './key-lines.ts';
import { tellHubOfSecrets } from './secret-take-up.ts';

export async function setSecrets(
  cli: CliContext,
  { workspace, json }: Invocation,
  names: readonly string[],
  fromEnv: boolean,
): Promise<void> {
  const { terminal } = cli;
  for (const name of names) checkSecretName(name);
  const values = new Map<string, string>();
  for (const name of fromEnv ? names : [onlyName(names)]) {
    values.set(name, fromEnv ? valueFromEnv(cli, name) : await readSecretValue(cli, name));
  }
  const { results, key } = await openRecordedSecrets(cli, workspace).setAll(values);
  const hub = await tellHubOfSecrets(cli, workspace);
  const answer: SecretSet = { secrets: [...results].map(([name, result]) => ({ name, result })), hub };
  if (json) return terminal.out(JSON.stringify(answer));
  for (const [name, result] of results) terminal.err(`${result === 'added' ? 'Stored' : 'Replaced'} ${name}.`);
  if (key !== undefined) terminal.err(newKeyLine(key, stateLayout(cli, workspace)));
  const line = takeUpLine(hub);
  if (line !== undefined) terminal.err(line);
}

function onlyName(names: readonly string[]): string {
  const [name = '', second] = names;
  if (second === undefined) return name;
  throw new HubError('USAGE', 'Several names need --from-env. Nothing was changed.', {
    hint: 'Without it, one name at a time: its value is asked for or read from stdin, and is never an argument.',
  });
}

function valueFromEnv({ env }: CliContext, name: string): string {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined && value !== '') return value;
  const state = value === undefined ? 'is not set' : 'is empty';
  throw new HubError('USAGE', `The environment variable ${name} ${state}. Nothing was changed.`);
}

export async function listSecrets(cli: CliContext, { workspace, json }: Invocation): Promise<void> {
  const { terminal } = cli;
  const book = openSecretBook(cli, workspace);
  const { keyIn, secrets } = await book.list();
  const { uses } = await loadWithUses(cli, workspace, book);
  const answer: SecretList = {
    key: keyIn ?? null,
    secrets: secrets.map(({ name, created, updated }) => ({
      name,
      created: new Date(created).toISOString(),
      updated: new Date(updated).toISOString(),
      servers: [...(uses.get(name) ?? [])],
    })),
  };
  if (json) return terminal.out(JSON.stringify(answer));
  if (secrets.length === 0) terminal.err('No secrets are stored. Store one with `qm secret set NAME`.');
  const { colours, width } = terminal;
  const time = (iso: string): string => iso.slice(0, 16).replace('T', ' ');
  const lines = renderTable(
    answer.secrets,
    [
      { title: 'NAME', text: ({ name }) => name, paint: colours.bold },
      { title: 'USED BY', text: ({ servers }) => (servers.length === 0 ? 'unused' : servers.join(', ')) },
      { title: 'UPDATED (UTC)', text: ({ updated }) => time(updated) },
      { title: 'CREATED (UTC)', text: ({ created }) => time(created) },
    ],
    { colours, width },
  );
  for (const line of secrets.length === 0 ? [] : lines) terminal.out(line);
  if (keyIn !== undefined) terminal.err(terminal.errColours.dim(keyLine(keyIn, stateLayout(cli, workspace))));
}

export async function removeSecret(cli: CliContext, { workspace, json }: Invocation, name: string): Promise<void> {
  const book = openRecordedSecrets(cli, workspace);
  const { uses } = await loadWithUses(cli, workspace, book);
  if (!(await book.remove(name))) {
    const { secrets } = await book.list();
    const names = secrets.map((each) => each.name);
    throw new HubError('USAGE', `No secret "${name.slice(0, 80)}" is stored.`, {
      hint: nameHint(name, names, { some: 'Stored', none: 'None are stored.' }),
    });
  }
  const servers = [...(uses.get(name) ?? [])];
  const hub = await tellHubOfSecrets(cli, workspace);
  const answer: SecretRemoved = { name, removed: true, servers, hub };
  if (json) return cli.terminal.out(JSON.stringify(answer));
  cli.terminal.err(`Removed ${name}.`);
  if (servers.length > 0) cli.terminal.err(`The configuration still refers to it: ${servers.join(', ')}.`);
  const line = takeUpLine(hub);
  if (line !== undefined) cli.terminal.err(line);
}

export async function rotateSecrets(
  cli: CliContext,
  { workspace, json }: Invocation,
  wanted: KeyPlaceKind | undefined,
): Promise<void> {
  const { terminal } = cli;
  const { secrets, keyIn, left } = await openRecordedSecrets(cli, workspace).rotate(wanted);
  const answer: SecretRotated = { secrets, key: keyIn ?? null, left: left ?? null };
  if (json) terminal.out(JSON.stringify(answer));
  else terminal.err(`${plural(secrets, 'secret')} sealed with a new key.`);
  if (keyIn !== undefined && !json) terminal.err(keyLine(keyIn, stateLayout(cli, workspace)));
  if (left === undefined) return;
  terminal.err(
    `${terminal.errColours.yellow('warning')} The old key is still in the keychain: ${left}. The next \`qm secret rotate\` removes it.`,
  );
}
