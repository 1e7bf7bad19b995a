import { join } from 'node:path';
import { HubError } from '../../../base/index.ts';
import { newConfigFile, openFile, putMember, roleTable } from '../../../workspace-files/index.ts';
import type { CliContext } from '../context.ts';
import type { RolesAnswer } from '../json-shapes.ts';
import { beforeWriting } from '../trust/approve-written.ts';
import { refuseBrokenFile, withConfigLock } from './config-change.ts';
import { loadWorkspace } from './load-workspace.ts';

const file = 'quartermaster.yaml';

/** Adds the roles that the file does not have. An entry of that name is somebody's choice and stays. */
export async function writeRoles(cli: CliContext, workspace: string): Promise<RolesAnswer> {
  return withConfigLock(cli, workspace, async () => {
    const approval = await beforeWriting(cli, workspace);
    const configuration = await loadWorkspace(cli, workspace);
    refuseBrokenFile(configuration);
    const { agents, servers } = configuration;
    const elsewhere = [...agents.values()].find(({ source }) => source.file !== file);
    if (elsewhere !== undefined) throw agentsElsewhere(elsewhere.source.file);
    const missing = roleTable.filter(({ name }) => !agents.has(name));
    const opened = await openFile(cli, join(workspace, file), file);
    approval.refuseOther(file, opened.text);
    let text = opened.text ?? newConfigFile(workspace);
    for (const { name, entry } of missing) {
      const edited = putMember(text, 'yaml', ['agents', name], entry);
      if (edited.kind === 'unsupported') throw cannotEdit();
      text = edited.text;
    }
    if (missing.length > 0) {
      await opened.replace(text);
      await approval.approve(new Map([[file, text]]), []);
    }
    const used = ['github', 'filesystem', 'postgres', 'deploy'];
    return {
      file,
      written: missing.map(({ name }) => name),
      kept: roleTable.flatMap(({ name }) => (agents.has(name) ? [name] : [])),
      missingServers: used.filter((name) => !servers.has(name)),
    };
  });
}

/** Agents come from one file, so roles in another would take the rights of these away. */
function agentsElsewhere(source: string): HubError {
  return new HubError('CONFIG_INVALID', `The agents of this workspace are in ${source}; no role was written.`, {
    hint: `Move them to ${file} first.`,
  });
}

function cannotEdit(): HubError {
  return new HubError('CONFIG_INVALID', `${file} is written in a way that cannot be edited; no role was written.`, {
    hint: 'Write `agents:` as a block, one agent per line, and try again.',
  });
}
