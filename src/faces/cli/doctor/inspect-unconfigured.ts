import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import { defaultPath, folderCode, pathOutside } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { openLocalHub } from '../hosting/local-hub.ts';
import { printableLine } from '../terminal/printable.ts';
import { inspectInHub, type inspectOutcomeSchema } from './inspect-in-hub.ts';
import { type InspectTarget, targetName } from './inspect-target.ts';

type UnconfiguredTarget = Exclude<InspectTarget, { kind: 'configured' }>;

/**
 * Inspects a server that no file configures, as an act of the operator: in a hub of its own, whose configuration is that
 * server and nothing else. So no stored secret, no `.env` and no variable of this workspace can reach it. As a configured
 * server, the program takes neither settings nor code from this workspace where it can be kept from them.
 */
export async function inspectUnconfigured(
  cli: CliContext,
  invocation: Invocation,
  target: UnconfiguredTarget,
  { timeoutMs, signal }: { readonly timeoutMs: number | undefined; readonly signal: AbortSignal },
): Promise<z.infer<typeof inspectOutcomeSchema>> {
  const agentFolder = resolve(cli.cwd, invocation.workspace);
  for (const remark of remarksOn(cli, target, agentFolder)) cli.terminal.err(cli.terminal.errColours.dim(remark));
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'qm-inspect-')));
  try {
    const [workspace, state] = [join(folder, 'workspace'), join(folder, 'state')];
    await mkdir(workspace, { mode: 0o700 });
    const server = targetName(target);
    const { entry, values } = entryOf(cli, target);
    // The operator may give a program any folder; no agent uses it.
    const configuration = { servers: { [server]: entry }, allowPaths: ['/'] };
    await writeFile(join(workspace, 'quartermaster.yaml'), JSON.stringify(configuration), { mode: 0o600 });
    const { path: PATH } = pathOutside(agentFolder, cli.env.PATH ?? defaultPath);
    const env = { ...cli.env, ...values, PATH, QM_STATE_DIR: state };
    const options = { watch: false, defaultLevel: 'error', trust: 'all', agentFolder } as const;
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

/** What the operator should know about a program that is started where agents write. */
function remarksOn({ cwd, env: own }: CliContext, target: UnconfiguredTarget, workspace: string): readonly string[] {
  if (target.kind === 'url') return [];
  const [command, ...args] = target.words;
  const program = { command, args, cwd, env: Object.fromEntries(target.env) };
  const found = folderCode(program, { workspace, home: own.HOME });
  const { dropped } = pathOutside(workspace, own.PATH ?? defaultPath);
  return [
    ...(found.kind === 'runs' && found.because === undefined
      ? ['This command runs code of the workspace, which agents with file tools can change.']
      : []),
    ...(found.kind === 'runs' && found.because !== undefined
      ? [
          'Code and settings of the workspace that this command would take are ignored. To use them, name the script itself.',
        ]
      : []),
    ...(dropped.length > 0 ? [`Not searched for programs: ${dropped.map(printableLine).join(', ')}.`] : []),
  ];
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
