import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fixturePath } from '../support/fixture-servers.ts';

export interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: { readonly content?: readonly { readonly text: string }[] } & Record<string, unknown>;
  readonly error?: { readonly code: number };
}

export interface Driven {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: readonly string[];
  readonly stderr: () => string;
  send(message: object): void;
  /** Waits until a line that is JSON passes the check. */
  until(check: (message: Message) => boolean): Promise<Message>;
  ended(): Promise<number | null>;
  [Symbol.asyncDispose](): Promise<void>;
}

const timeoutMs = 15_000;

/** A stdio fixture with nothing between the test and its pipes. */
export function driveStdio(file: string, args: readonly string[] = [], env: Record<string, string> = {}): Driven {
  const child = spawn(process.execPath, [fixturePath(file), ...args], { env: { ...process.env, ...env } });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const exit = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  let rest = '';
  let stderr = '';
  child.stdin.on('error', () => {});
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString('utf8')).slice(-1_000_000);
  });
  child.stdout.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString('utf8')).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    for (const look of waiting) look();
  });
  return {
    child,
    lines,
    stderr: () => stderr,
    send: (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    until: (check) =>
      within(
        new Promise((resolve) => {
          const look = (): void => {
            const found = lines.map(parse).find((message) => message !== undefined && check(message));
            if (found === undefined) return;
            waiting.delete(look);
            resolve(found);
          };
          waiting.add(look);
          look();
        }),
        `a message of ${file} ${args.join(' ')}; it said: ${lines.join('\n').slice(-2_000)}`,
      ),
    ended: () => within(exit, `the end of ${file} ${args.join(' ')}`),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

export const initialize = {
  id: 'init',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
} as const;

export function call(id: unknown, name: string, args: object = {}): object {
  return { id, method: 'tools/call', params: { name, arguments: args } };
}

export function textOf(message: Message): string | undefined {
  return message.result?.content?.[0]?.text;
}

export async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${timeoutMs} ms for ${what}`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function parse(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
