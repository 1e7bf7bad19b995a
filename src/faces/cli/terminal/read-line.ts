import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** One line from a person, or the key that refused it. */
export type ReadLine =
  | { readonly kind: 'line'; readonly text: string }
  /** Ctrl-D. */
  | { readonly kind: 'end' }
  /** Ctrl-C, or the line is no longer needed. */
  | { readonly kind: 'interrupt' };

/** Restores the terminal, however it ends. */
export function readLine(
  { input, output }: { readonly input: Readable; readonly output: Writable },
  prompt: string,
  signal: AbortSignal,
): Promise<ReadLine> {
  if (signal.aborted) return Promise.resolve({ kind: 'interrupt' });
  return new Promise((resolve) => {
    const lines = createInterface({ input, output, terminal: true, historySize: 0 });
    const end = (result: ReadLine): void => {
      signal.removeEventListener('abort', interrupt);
      // The first result wins: closing reports Ctrl-D once more.
      resolve(result);
      lines.close();
    };
    const interrupt = (): void => {
      output.write('\n');
      end({ kind: 'interrupt' });
    };
    signal.addEventListener('abort', interrupt, { once: true });
    lines.on('line', (text) => end({ kind: 'line', text }));
    lines.on('SIGINT', interrupt);
    lines.on('close', () => {
      end({ kind: 'end' });
    });
    lines.setPrompt(prompt);
    lines.prompt();
  });
}
