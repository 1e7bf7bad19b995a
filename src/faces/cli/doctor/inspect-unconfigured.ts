import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { openLocalHub } from '../hosting/local-hub.ts';
import { inspectInHub, type inspectOutcomeSchema } from './inspect-in-hub.ts';
import { type InspectTarget, targetName } from './inspect-target.ts';

type UnconfiguredTarget = Exclude<InspectTarget, { kind: 'configured' }>;

/**
 * Inspects a server that no file configures, as an act of the operator: in a hub of its own, whose configuration is that
 * server and nothing else. So no stored secret, no `.env` and no variable of this workspace can reach it.
 */
export async function inspectUnconfigured(
  cli: CliContext,
  invocation: Invocation,
  target: UnconfiguredTarget,
  { timeoutMs, signal }: { readonly timeoutMs: number | undefined; readonly signal: AbortSignal },
): Promise<z.infer<typeof inspectOutcomeSchema>> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'qm-inspect-')));
  try {
    const [workspace, state] = [join(folder, 'workspace'), join(folder, 'state')];
    await mkdir(workspace, { mode: 0o700 });
    const server = targetName(target);
    const { entry, values } = entryOf(cli, target);
    // The operator may give a program any folder; no agent uses it.
    const configuration = { servers: { [server]: entry }, allowPaths: ['/'] };
    await writeFile(join(workspace, 'quartermaster.yaml'), JSON.stringify(configuration), { mode: 0o600 });
    const env = { ...cli.env, ...values, QM_STATE_DIR: state };
    const options = { watch: false, defaultLevel: 'error', trust: 'all' } as const;
    const local = await openLocalHub({ ...cli, env }, { ...invocation, workspace }, options);
    try {
      return await inspectInHub(cli, local.hub, { params: { server, timeoutMs, isConfigured: false }, signal });
    } finally {
      await local.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

interface Entry {
  readonly entry: Readonly<Record<string, unknown>>;
  /** The values of its variables: not in a file, and redacted everywhere, as those of a configured server. */
  readonly values: Readonly<Record<string, string>>;
}

function entryOf({ cwd }: CliContext, target: UnconfiguredTarget): Entry {
  const given = target.kind === 'url' ? target.headers : target.env;
  const names = given.map(([name], at) => [name, `\${QM_GIVEN_${at}}`] as const);
  const values = Object.fromEntries(given.map(([, value], at) => [`QM_GIVEN_${at}`, value]));
  if (target.kind === 'url') return { entry: { url: literal(target.url), headers: Object.fromEntries(names) }, values };
  const [command, ...args] = target.words.map(literal);
  return { entry: { command, args, env: Object.fromEntries(names), cwd: literal(cwd) }, values };
}

/** Escaped, because `${` begins a variable in the file. */
function literal(text: string): string {
  return text.replaceAll('${', () => '$${');
}
