import { onRecord } from '../acts/operator-log.ts';
import type { CliContext } from '../context.ts';
import { beforeWriting } from '../trust/approve-written.ts';
import { withConfigLock } from './config-change.ts';
import { planRemoval, type Removal } from './plan-removal.ts';

/** Takes a server out of the file that configures it. What the file says then is approved by this act. */
export async function removeServer(cli: CliContext, workspace: string, name: string): Promise<Removal> {
  return withConfigLock(cli, workspace, async () => {
    const approval = await beforeWriting(cli, workspace);
    const removal = await planRemoval(cli, workspace, name);
    for (const { file, opened } of removal.files) approval.refuseOther(file, opened.text);
    const from = `from ${removal.files.map(({ file }) => file).join(', ')}`;
    await onRecord(cli, workspace, [{ what: 'server.removed', subject: name, detail: from }], async () => {
      for (const { opened, text } of removal.files) {
        if (text === undefined) await opened.remove();
        else await opened.replace(text);
      }
    });
    await approval.approveRemoval(new Map(removal.files.map(({ file, text }) => [file, text])));
    return removal;
  });
}
