import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { HubError } from '../../../base/index.ts';
import {
  fileFailure,
  openFile,
  planSync,
  readFolder,
  refuseLinks,
  replaceAll,
  type SyncPlan,
  sourceFolder,
  targetFolder,
} from '../../../workspace-files/index.ts';
import type { CliContext } from '../context.ts';
import type { SyncAnswer } from '../json-shapes.ts';
import { tryOut, withConfigLock } from './config-change.ts';

export interface SyncFilesOptions {
  readonly check: boolean;
  readonly prune: boolean;
}

/** Brings `.mcp/servers/` in step with its sources. With `check`, changes nothing. */
export async function syncFiles(cli: CliContext, workspace: string, options: SyncFilesOptions): Promise<SyncAnswer> {
  if (options.check) return answer(await readPlan(workspace), options);
  return withConfigLock(cli, workspace, async () => {
    const plan = await readPlan(workspace);
    await refuseSecrets(workspace, plan);
    await refuseLinks(workspace, targetFolder);
    await write(cli, workspace, plan);
    if (options.prune) await prune(workspace, plan.orphans);
    return answer(plan, options);
  });
}

async function readPlan(workspace: string): Promise<SyncPlan> {
  const [sources, existing] = await Promise.all([
    readFolder(workspace, sourceFolder, ['.yaml', '.yml']),
    readFolder(workspace, targetFolder, ['.json', '.yaml', '.yml']),
  ]);
  const plan = planSync(sources, existing);
  const [first, ...more] = plan.obstacles;
  if (first === undefined) return plan;
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  throw new HubError('CONFIG_INVALID', `${first.message}${others} Nothing was written.`, {
    hint: first.fix,
    details: { problems: plan.obstacles.map((each) => ({ severity: 'error', ...each })) },
  });
}

/** Without an environment, variables have no values, so any secret found is written out literally in the source. */
async function refuseSecrets(workspace: string, plan: SyncPlan): Promise<void> {
  const sources = await readFolder(workspace, sourceFolder, ['.yaml', '.yml']);
  const { secrets } = await tryOut({}, sources);
  const telling = plan.files.find(({ text }) =>
    secrets.some((secret) => text.includes(JSON.stringify(secret).slice(1, -1))),
  );
  if (telling === undefined) return;
  throw new HubError(
    'CONFIG_INVALID',
    `${telling.source} holds what looks like a secret; it is not copied. Nothing was written.`,
    {
      hint: `Write a variable instead, such as \${NAME}, and rotate the secret.`,
    },
  );
}

async function write(cli: CliContext, workspace: string, { files }: SyncPlan): Promise<void> {
  const changing = files.filter(({ state }) => state !== 'unchanged');
  if (changing.length === 0) return;
  try {
    await mkdir(join(workspace, targetFolder), { recursive: true });
  } catch (error) {
    throw fileFailure(error, 'make', targetFolder);
  }
  const changes = changing.map(async ({ file, text }) => ({
    file: await openFile(cli, join(workspace, file), file),
    text,
  }));
  await replaceAll(await Promise.all(changes));
}

async function prune(workspace: string, orphans: readonly string[]): Promise<void> {
  for (const file of orphans) {
    await rm(join(workspace, file)).catch((error: unknown) => {
      throw fileFailure(error, 'remove', file);
    });
  }
}

function answer({ files, orphans, skipped }: SyncPlan, { check, prune: pruned }: SyncFilesOptions): SyncAnswer {
  const made = { missing: 'written', stale: 'updated', unchanged: 'unchanged' } as const;
  const rows: SyncAnswer['files'] = [
    ...files.map(({ file, source, state }) => ({ file, source, state: check ? state : made[state] })),
    ...orphans.map((file) => ({
      file,
      source: null,
      state: pruned && !check ? ('removed' as const) : ('orphan' as const),
    })),
  ];
  const off: readonly string[] = ['missing', 'stale', 'orphan'];
  const inStep = check ? !rows.some(({ state }) => off.includes(state)) : true;
  return { inStep, files: rows, skipped: skipped.map((each) => ({ ...each })) };
}
