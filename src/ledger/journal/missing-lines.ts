import type { Clock } from '../../base/index.ts';
import { appendRunLines, cutTornLine, openRunsFolder, readCallIds } from '../runs/run-file.ts';
import type { LedgerFiles } from './file-operations.ts';

/** Adds the calls of a journal to the run files, each call once, no matter how often it is retried. */
export interface MissingLines {
  add(run: string, id: string, line: string): Promise<void>;
  /** The runs that could not be written, with the error. */
  finish(): Promise<ReadonlyMap<string, unknown>>;
}

interface RunState {
  readonly run: string;
  readonly known: Set<string>;
  text: string;
}

export function createMissingLines(
  deps: { readonly clock: Clock; readonly files: LedgerFiles },
  workspace: string,
): MissingLines {
  const runs = new Map<string, RunState>();
  const failed = new Map<string, unknown>();

  async function stateOf(run: string): Promise<RunState> {
    const known = runs.get(run);
    if (known !== undefined) return known;
    await cutTornLine(deps.clock, workspace, run);
    const state = { run, known: await readCallIds(workspace, run), text: '' };
    runs.set(run, state);
    return state;
  }

  function write(state: RunState): void {
    if (state.text === '') return;
    const folder = openRunsFolder(workspace);
    try {
      appendRunLines(deps.files, folder, state.run, Buffer.from(state.text));
    } finally {
      folder.close();
    }
    state.text = '';
  }

  async function attempt(run: string, work: () => Promise<void>): Promise<void> {
    if (failed.has(run)) return;
    try {
      await work();
    } catch (error) {
      failed.set(run, error);
    }
  }

  return {
    add: (run, id, line) =>
      attempt(run, async () => {
        const state = await stateOf(run);
        if (state.known.has(id)) return;
        state.known.add(id);
        state.text += line;
        if (state.text.length >= batchCharacters) write(state);
      }),
    async finish() {
      for (const [run, state] of runs) await attempt(run, async () => write(state));
      return failed;
    },
  };
}

const batchCharacters = 64 * 1024;
