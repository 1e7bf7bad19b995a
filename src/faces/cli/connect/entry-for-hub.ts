import { basename } from 'node:path';
import { HubError } from '../../../base/index.ts';
import type { Client, HubEntry } from '../../../clients/index.ts';
import { readServedPort, readServeFile } from '../../../storage/index.ts';
import type { CliContext } from '../context.ts';
import { stateLayout } from '../hub/state-layout.ts';

export interface HubEntryOptions {
  readonly workspace: string;
  readonly agent: string;
  readonly http: boolean;
  readonly tokenVariable: string;
}

/**
 * The entry for the hub. Clients with a window have no PATH, and some start servers with few variables, so that it names
 * every program and every folder in full.
 */
export async function entryForHub(cli: CliContext, options: HubEntryOptions): Promise<HubEntry> {
  const { workspace, agent, http, tokenVariable } = options;
  if (http) return { kind: 'http', url: await hubUrl(cli, workspace), tokenVariable };
  const [command, ...program] = cli.self;
  const args = [...program, 'stdio', '--agent', agent, '--workspace', workspace];
  return { kind: 'stdio', command, args, env: placesIn(cli.env) };
}

/** Without them, the client's hub would be another one. */
function placesIn(env: CliContext['env']): Readonly<Record<string, string>> {
  const names = ['QM_STATE_DIR', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name];
      return value?.startsWith('/') === true ? [[name, value]] : [];
    }),
  );
}

async function hubUrl(cli: CliContext, workspace: string): Promise<string> {
  const layout = stateLayout(cli, workspace);
  const running = await readServeFile(layout);
  const port = (await readServedPort(layout)) ?? usualPort;
  const url = running?.url.startsWith('http') === true ? running.url : `http://127.0.0.1:${port}`;
  return `${url}/mcp`;
}

const usualPort = 4680;

export function checkTokenVariable(name: string): string {
  // By this name the hub recognizes the entry as its own where it reads the file too.
  if (/^QM_TOKEN(?:_[A-Z0-9_]{1,50})?$/.test(name)) return name;
  throw new HubError('USAGE', `"${name.slice(0, 80)}" cannot be the variable for the token.`, {
    hint: 'Use QM_TOKEN, or QM_TOKEN_ and capital letters, digits and "_".',
  });
}

/** Throws if the client cannot use the draft. */
export function writtenEntry({ title, write }: Client, draft: HubEntry): NonNullable<ReturnType<Client['write']>> {
  const entry = write(draft);
  if (entry !== undefined) return entry;
  throw new HubError('USAGE', `${title} cannot reach a URL without having the token in its file.`, {
    hint: 'Leave --http out: it starts `qm stdio` itself and needs no token.',
  });
}

/** A name that says which workspace it is, where entries of several meet. */
export function entryNames(workspace: string, isShared: boolean): readonly [string, ...string[]] {
  const folder = basename(workspace)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 20);
  const first = isShared && folder !== '' ? `hub-${folder}` : 'hub';
  return [first, ...Array.from({ length: 50 }, (_, index) => `${first}-${index + 2}`)];
}
