/**
 * Servers over stdio that misbehave in one way each: `node bad.mjs MODE`. Handshake era, with the echo tools where the
 * mode leaves them reachable.
 */
import { logCall } from './raw/call-log.mjs';
import { createEchoServer, said } from './raw/echo-tools.mjs';
import { serveStdio, writeMessage } from './raw/serve-stdio.mjs';

const mode = process.argv[2];
const server = createEchoServer('bad', 'stdio');
const forever = new Promise(() => {});
const huge = 10 * 1024 * 1024;

const modes = {
  'never-answers': () => process.stdin.resume(),

  'hang-on-call': () => serveStdio({ ...server, callTool: () => forever }, 'legacy'),

  /** Between valid messages: text, half a message, bytes that are no UTF-8, empty lines; and answers in two pieces. */
  garbage() {
    const noise = Buffer.concat([
      Buffer.from('Listening on port 3000\n{"jsonrpc":"2.0","id":\n\n[]\nnull\n42\n'),
      Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a]),
    ]);
    serveStdio(server, 'legacy', {
      write(message) {
        const line = Buffer.from(`${JSON.stringify(message)}\n`);
        const middle = Math.floor(line.length / 2);
        process.stdout.write(noise);
        process.stdout.write(line.subarray(0, middle));
        // Synchronous, so that no other message lands inside this one.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
        process.stdout.write(line.subarray(middle));
        process.stdout.write(noise);
      },
    });
  },

  'closes-mid-call'() {
    serveStdio(server, 'legacy', {
      accept(message, line) {
        if (message.method === 'tools/call') {
          logCall(message, line);
          process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"resu`, () => process.exit(0));
        }
        return message.method !== 'tools/call';
      },
    });
  },

  'exits-at-start'() {
    process.stderr.write('fatal: cannot start, API_KEY is not set\n');
    process.exitCode = 3;
  },

  'floods-stderr'() {
    const chunk = `${'noise '.repeat(10_000)}\n`;
    const flood = () => process.stderr.write(chunk, () => setImmediate(flood));
    flood();
    serveStdio(server, 'legacy');
  },

  'ignores-term'() {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
      process.on(signal, () => process.stderr.write(`ignored ${signal}\n`));
    process.stdout.on('error', () => {});
    process.stderr.on('error', () => {});
    process.stdin.on('end', () => process.stderr.write('ignored the end of input\n'));
    setInterval(() => {}, 60_000);
    serveStdio(server, 'legacy', { stayAtEnd: true });
  },

  'schema-without-type'() {
    const tools = [
      { name: 'untyped', description: 'Its schema has no type', inputSchema: { properties: { a: {} } } },
      ...server.listTools().tools.filter((tool) => tool.name === 'echo'),
    ];
    const callTool = (call) => (call.name === 'untyped' ? said('untyped ran') : server.callTool(call));
    serveStdio({ ...server, callTool, listTools: () => ({ tools }) }, 'legacy');
  },

  /** The right answer stands between answers that belong to nobody; only it says the truth. */
  'wrong-ids'() {
    serveStdio(server, 'legacy', {
      write(message, request) {
        if (request === undefined) {
          writeMessage(message);
          return;
        }
        const wrong = { jsonrpc: '2.0', result: said('wrong') };
        writeMessage({ ...wrong, id: 987_654_321 });
        writeMessage({ ...wrong, id: typeof request.id === 'string' ? Number(request.id) : String(request.id) });
        writeMessage({ ...wrong, id: null });
        writeMessage(message);
        writeMessage({ ...wrong, id: request.id });
      },
    });
  },

  huge: () => serveStdio({ ...server, callTool: () => said('x'.repeat(huge)) }, 'legacy'),

  'exits-on-probe'() {
    let first = true;
    serveStdio(server, 'legacy', {
      accept(message) {
        if (first && message.method !== 'initialize') {
          process.stderr.write(`Error: expected initialize request, got ${message.method}\n`);
          process.exit(1);
        }
        first = false;
        return true;
      },
    });
  },

  'silent-probe'() {
    let ready = false;
    serveStdio(server, 'legacy', {
      accept(message) {
        ready ||= message.method === 'initialize';
        return ready;
      },
    });
  },

  'slow-start': () => setTimeout(() => serveStdio(server, 'legacy'), 2500),
};

if (modes[mode] === undefined) {
  process.stderr.write(`usage: node bad.mjs ${Object.keys(modes).join('|')}\n`);
  process.exit(2);
}
modes[mode]();
