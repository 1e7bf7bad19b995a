import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { difference, differenceInAnyOrder, linesOf } from './doc-shown.ts';
import type { DocWorkspace } from './doc-workspaces.ts';
import { need } from './needed.ts';
import { eventually, within } from './within.ts';

const address = /127\.0\.0\.1:4680/g;
const timeoutMs = 60_000;

/** Runs the commands of a page. The folder, exported variables and running programs carry over from one to the next. */
export interface DocShell {
  /**
   * Compares the output with the page, if the page shows any. Returns the exit code, or undefined for a program that
   * keeps running.
   */
  run(command: string, shown?: readonly string[], order?: 'in any order'): Promise<number | undefined>;
}

export function openShell(workspace: DocWorkspace): DocShell {
  const ids = new Map<string, string>();
  const running = new Set<Running>();
  let hub: string | undefined;
  onTestFinished(async () => {
    for (const one of [...running].reverse()) await one.stop();
  });

  function start(typed: string): Running {
    const state = join(workspace.base, 'state.sh');
    // One pipe for stdout and stderr, to preserve their order.
    const script = `exec 2>&1\n${existsSync(state) ? readFileSync(state, 'utf8') : ''}\n${typed}\ncode=$?
      { export -p; printf 'cd %q\\n(exit %d)\\n' "$PWD" $code; } > '${state}'; exit $code`;
    const one = spawnBash(script, workspace);
    running.add(one);
    void one.ended.then(() => running.delete(one));
    return one;
  }

  /** Replaces the page's port and ids with those of this run, and agrees where a reader is asked on the terminal. */
  function translate(command: string): string {
    const agreed = command.replace(/\bqm connect (?!.*--(?:yes|print))[^#]*\w/, '$& --yes');
    let text = agreed.replaceAll(/\/home\/me(\/[\w.-]+)*/g, workspace.folder);
    for (const [page, real] of ids) text = text.replaceAll(page, real);
    if (/\bqm serve\b/.test(text)) return text.replace(/\bqm serve\b/, 'qm serve --port 0');
    if (hub === undefined && address.test(text)) throw new Error(`no hub runs for: ${command}`);
    return text.replaceAll(address, hub ?? '');
  }

  const saidBy = (one: Running): string[] =>
    linesOf(hub === undefined ? one.said() : one.said().replaceAll(hub, '127.0.0.1:4680'));

  return {
    async run(command, shown, order) {
      needWhatItUses(command);
      const one = start(translate(command));
      const compare = order === undefined ? difference : differenceInAnyOrder;
      const wrong = (): string => (shown === undefined ? '' : compare(shown, saidBy(one), ids));
      const fail = (why: string): never => {
        throw new Error(`$ ${command}\n${why}\n\nall of it:\n${one.said()}`);
      };
      if (!goesOn(command)) {
        const code = await within(one.ended, `${command}; it said ${one.said()}`, timeoutMs);
        if (wrong() !== '') fail(wrong());
        if (shown === undefined && !isGood(command, code)) fail(`exit ${code}`);
        return code;
      }
      if (/\bqm serve\b/.test(command)) {
        hub = await eventually(() => /http:\/\/(127\.0\.0\.1:\d+)/.exec(one.said())?.[1], 'the hub', timeoutMs);
      }
      await eventually(() => wrong() === '' || undefined, command).catch(() => fail(wrong()));
      return undefined;
    },
  };
}

interface Running {
  readonly ended: Promise<number>;
  said(): string;
  stop(): Promise<void>;
}

/** Some commands exist to report that something is denied or absent. */
function isGood(command: string, code: number): boolean {
  const answers: Readonly<Record<number, string>> = { 1: 'grep ', 5: 'qm explain ' };
  return code === 0 || command.startsWith(answers[code] ?? '\n');
}

function needWhatItUses(command: string): void {
  for (const program of ['jq', 'curl'] as const) {
    if (new RegExp(`(^|[| ])${program} `).test(command)) need(program);
  }
}

/** A hub, a stream or a followed list runs until it is stopped. */
function goesOn(command: string): boolean {
  return /\bqm serve\b|--follow\b|\bcurl -s?N\b/.test(command);
}

function spawnBash(script: string, { start, env }: DocWorkspace): Running {
  const child: ChildProcess = spawn('bash', ['-c', script], { cwd: start, env, detached: true, stdio: 'pipe' });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  child.stdin?.end();
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)));
  const kill = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
  };
  return {
    ended,
    said: () => said,
    async stop() {
      kill('SIGINT');
      await within(ended, 'a command of the page to end', 15_000).catch(() => kill('SIGKILL'));
    },
  };
}
