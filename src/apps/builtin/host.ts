import { PassThrough } from 'node:stream';
import { version } from '../../base/index.ts';
import type { BuiltinName } from '../../domain/index.ts';
import type { BuiltinOrder, ChildStreams } from '../../hub/index.ts';
import { type ServedServer, type Serving, serveTools } from '../serving/index.ts';
import type { BuiltinDeps, BuiltinKind, BuiltinServer, BuiltinSettings } from './builtin-kind.ts';
import type { BuiltinPipes } from './builtins.ts';
import { loadBuiltin } from './load-builtin.ts';

/** Runs a built-in inside the hub, over a pair of in-process pipes. */
export async function hostBuiltin({ builtin, ...settings }: BuiltinOrder, deps: BuiltinDeps): Promise<ChildStreams> {
  const { kind, server } = await openKind(builtin, settings, deps);
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const serving = serveTools({ input: stdin, output: stdout, logger: deps.logger }, servedAs(kind, server));
  const exited = endOf(serving, kind, server, deps).then(() => {
    stdin.destroy();
    stdout.end();
    return { code: null, signal: null, stderrTail: '' };
  });
  return {
    stdin,
    stdout,
    exited,
    async stop() {
      serving.close();
      await exited;
    },
    kill: () => serving.close(),
  };
}

/** Runs a built-in as its own process, over stdin and stdout. */
export async function serveKind(
  { builtin, ...settings }: BuiltinOrder,
  { input, output, ...deps }: BuiltinDeps & BuiltinPipes,
): Promise<Serving> {
  const { kind, server } = await openKind(builtin, settings, deps);
  const serving = serveTools({ input, output, logger: deps.logger }, servedAs(kind, server));
  return { ended: endOf(serving, kind, server, deps), close: serving.close };
}

async function openKind(
  name: BuiltinName,
  settings: BuiltinSettings,
  deps: BuiltinDeps,
): Promise<{ readonly kind: BuiltinKind; readonly server: BuiltinServer }> {
  const kind = await loadBuiltin(name);
  const server = await kind.open(settings, deps);
  try {
    await server.reach?.();
    return { kind, server };
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function endOf(serving: Serving, { name }: BuiltinKind, server: BuiltinServer, deps: BuiltinDeps): Promise<void> {
  await serving.ended;
  await server.close().catch((error: unknown) => deps.logger.error('builtin.not-closed', { builtin: name, error }));
}

/** The server as clients see it. */
function servedAs({ name }: BuiltinKind, { instructions, tools }: BuiltinServer): ServedServer {
  return { name: `quartermaster-${name}`, title: `Quartermaster ${name}`, version, instructions, tools };
}
