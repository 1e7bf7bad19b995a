import { spawn } from 'node:child_process';
import { z } from 'zod';
import type { Clock } from '../../base/index.ts';
import { keychainScript } from './keychain-script.ts';

export interface KeychainRequest {
  readonly doing: 'read' | 'write' | 'remove';
  readonly service: string;
  readonly account: string;
  readonly text?: string;
}

const answerSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('found'), text: z.string() }),
  /** Done; or there was nothing to read or remove. */
  z.strictObject({ kind: z.literal('done') }),
  z.strictObject({ kind: z.literal('failed'), why: z.string() }),
]);

export type KeychainAnswer = z.infer<typeof answerSchema>;

export interface KeychainProcessOptions {
  /** The path of the keyring package. */
  readonly library: string;
  readonly env: Readonly<Record<string, string>>;
  readonly deadlineMs: number;
  /** After a second without an answer: the keychain may be asking for its password. */
  readonly onWait?: (() => void) | undefined;
}

const waitMs = 1_000;
const maxAnswerBytes = 64 * 1024;
const newLine = 10;

/** Makes one request in a process of its own, because the library may block for good. Never rejects. */
export function askKeychain(
  { clock }: { readonly clock: Clock },
  request: KeychainRequest,
  options: KeychainProcessOptions,
): Promise<KeychainAnswer> {
  return new Promise((resolve) => {
    const { library, env, deadlineMs, onWait } = options;
    const child = spawn(process.execPath, ['--eval', keychainScript, library, String(process.pid)], {
      cwd: '/',
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const chunks: Buffer[] = [];
    let length = 0;
    const timers = [
      clock.setTimer(waitMs, () => onWait?.()),
      clock.setTimer(deadlineMs, () => end(`it did not answer in ${deadlineMs / 1000} s`)),
    ];
    function end(why: string): void {
      conclude({ kind: 'failed', why });
    }
    function conclude(answer: KeychainAnswer): void {
      for (const timer of timers) timer.cancel();
      // After its answer there is nothing that is worth waiting for.
      child.kill('SIGKILL');
      resolve(answer);
    }
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxAnswerBytes) end('its answer is too long');
      else if (chunk.at(-1) === newLine) conclude(readAnswer(Buffer.concat(chunks)));
    });
    child.on('error', (error) => end(`its process does not start (${error.message})`));
    child.on('close', (code, signal) => end(`its process ended with ${signal ?? `code ${code}`}, without an answer`));
    // A process that ends before it has read is reported by its exit.
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(request));
  });
}

function readAnswer(bytes: Buffer): KeychainAnswer {
  try {
    return answerSchema.parse(JSON.parse(bytes.toString('utf8')));
  } catch {
    // The text may hold a key, so nothing of it is repeated.
    return { kind: 'failed', why: 'its answer cannot be read' };
  }
}
