import { folderCode } from '../../base/index.ts';
import type { ServerSpec, StdioTransportSpec, TransportSpec } from '../../domain/index.ts';
import { checkApprovedFiles } from './approved-files.ts';
import { unapprovedCode } from './guarded-program.ts';

/** What the hub knows about the programs that it starts. */
export interface ProgramContext {
  readonly workspace: string;
  /** The home folder of the user. */
  readonly home: string | undefined;
  /** The path of a shell made of `npmShellScript`. */
  readonly npmShell: string;
  /** Throws HubError if the server would reach keys that it may not have. */
  checkReach(spec: ServerSpec, transport: TransportSpec): void;
}

/** Throws HubError unless the program would run the code and reach the folders that were approved. */
export async function checkProgram(
  programs: ProgramContext,
  spec: ServerSpec,
  program: StdioTransportSpec,
): Promise<void> {
  programs.checkReach(spec, program);
  await checkApprovedFiles(spec.name, program);
  if (program.approvedFiles === undefined || program.guard === undefined) return;
  // With the files that are in its folder now, it should run something else.
  const { kind, because } = { because: undefined, ...folderCode(program, programs) };
  if (kind === 'runs' && because !== undefined) throw unapprovedCode(spec.name);
}
