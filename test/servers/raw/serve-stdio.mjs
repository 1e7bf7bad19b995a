import { answer } from './answer.mjs';
import { onLines } from './lines.mjs';
import { codes, failure, notification } from './protocol.mjs';

/**
 * Serves over stdin and stdout; ends when stdin does.
 *
 * @param {'legacy' | 'modern'} era
 * @param {{ write?(message): void, accept?(message, line): boolean, stayAtEnd?: boolean }} options
 *   how a broken server differs: what it writes, which messages it looks at, whether it goes when told to
 */
export function serveStdio(server, era, options = {}) {
  const write = options.write ?? writeMessage;
  const running = new Map();
  onLines(process.stdin, (line) => {
    receive(line).catch((error) => process.stderr.write(`${error.stack}\n`));
  });
  if (!options.stayAtEnd) process.stdin.on('end', () => process.exit(0));
  if (era === 'legacy') server.onChange?.(() => write(notification('notifications/tools/list_changed')));

  async function receive(line) {
    const message = parse(line);
    if (message === undefined) {
      write(failure(null, codes.parse, 'Parse error'));
      return;
    }
    if (options.accept?.(message, line) === false) return;
    if (message.id === undefined) {
      if (message.method === 'notifications/cancelled') running.get(message.params?.requestId)?.abort();
      return;
    }
    const abort = new AbortController();
    running.set(message.id, abort);
    const response = await answer(server, era, line, message, { send: write, signal: abort.signal });
    running.delete(message.id);
    if (response !== undefined) write(response, message);
  }
}

export function writeMessage(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
