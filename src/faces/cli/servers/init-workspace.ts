import { join } from 'node:path';
import { firstConfigFile, openFile } from '../../../workspace-files/index.ts';
import type { CliContext } from '../context.ts';
import type { InitAnswer } from '../json-shapes.ts';
import { beforeWriting } from '../trust/approve-written.ts';
import { refuseBrokenFile, withConfigLock } from './config-change.ts';
import { loadWorkspace } from './load-workspace.ts';

const file = 'quartermaster.yaml';

/** Writes a first configuration, unless the hub has one to read already. */
export async function initWorkspace(cli: CliContext, workspace: string): Promise<InitAnswer> {
  return withConfigLock(cli, workspace, async () => {
    const approval = await beforeWriting(cli, workspace);
    const configuration = await loadWorkspace(cli, workspace);
    refuseBrokenFile(configuration);
    const { servers, agents, policy, files } = configuration;
    const sources = [...servers.values()].map((server) => (server.kind === 'ready' ? server.spec : server).source.file);
    const routed = [...agents.values()].map(({ source }) => source.file);
    const telling = new Set([...sources, ...routed, ...(policy === undefined ? [] : [policy.source.file])]);
    const read = files
      .filter((each) => each === file || telling.has(each))
      .map((each) => ({ file: each, servers: [...servers.keys()].filter((_, at) => sources[at] === each) }));
    if (read.length > 0) return { file, written: false, read };
    const opened = await openFile(cli, join(workspace, file), file);
    approval.refuseOther(file, opened.text);
    await opened.replace(firstConfigFile(workspace));
    return { file, written: true, read: [{ file, servers: [] }] };
  });
}
