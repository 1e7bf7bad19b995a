import { HubError, type ProgramFile, programFiles, stillHas } from '../../base/index.ts';
import type { StdioTransportSpec } from '../../domain/index.ts';

/** Throws if the program would run other files than those that were approved. */
export async function checkApprovedFiles(server: string, transport: StdioTransportSpec): Promise<void> {
  if (transport.approvedFiles === undefined) return;
  const { workspace, files } = transport.approvedFiles;
  const now = await programFiles(transport, workspace);
  const [approved, found] = [new Set(files.map(factOf)), new Set(now.map(factOf))];
  const appeared = now.find((file) => !approved.has(factOf(file)));
  if (appeared !== undefined) throw changed(server, appeared);
  // Files of the other transports were approved together with this one.
  for (const file of files) {
    if (!found.has(factOf(file)) && !(await stillHas(workspace, file))) throw changed(server, file);
  }
}

function factOf(file: ProgramFile): string {
  const { kind, path } = file;
  return JSON.stringify([kind, path, kind === 'file' ? file.sha256 : kind === 'link' ? file.target : '']);
}

function changed(server: string, { path, kind }: ProgramFile): HubError {
  return new HubError('NOT_TRUSTED', `Server "${server}" is not started: a file that it runs changed after approval.`, {
    hint: `Look at ${path}${kind === 'link' ? ', a link' : ''}, then run \`qm trust ${server}\`.`,
    details: { server, file: path },
  });
}
