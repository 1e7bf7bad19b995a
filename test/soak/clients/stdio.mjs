import { spawn } from 'node:child_process';
import { onLines } from '../../servers/raw/lines.mjs';
import { within } from '../world/within.mjs';
import { capabilities } from './answers.mjs';
import { createPending } from './pending.mjs';

/** `qm stdio`, a second process beside the hub, spoken to line by line. */
export async function openStdio({ bin, folder, env, agent, run, name, handlers }) {
  const args = [bin, 'stdio', '--agent', agent, '--run', run, '--workspace', folder];
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const write = async (message) => {
    child.stdin.write(`${JSON.stringify(message)}\n`);
  };
  const pending = createPending({ ...handlers, reply: write });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  void ended.then(pending.endAll);
  child.stdin.on('error', () => {});
  onLines(child.stdout, (line) => pending.deliver(JSON.parse(line)));
  const send = (method, params) => (id) => write({ jsonrpc: '2.0', id, method, params });
  const opening = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: `soak-${name}`, version: '1' } };
  const begun = await pending.request(send('initialize', opening), { timeoutMs: 60_000 });
  if (begun.kind !== 'result') {
    child.kill('SIGKILL');
    return { failed: begun };
  }
  await write({ jsonrpc: '2.0', method: 'notifications/initialized' });

  return {
    kind: 'stdio',
    era: 'legacy',
    pid: child.pid,
    request: (method, params = {}, { timeoutMs = 60_000, onId } = {}) =>
      pending.request(send(method, params), { timeoutMs, onId }),
    cancel: (requestId) => write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }),
    async close() {
      child.stdin.end();
      await within(ended, 20_000, 'qm stdio to end with its input').catch((error) => {
        child.kill('SIGKILL');
        throw error;
      });
    },
    abandon: () => child.kill('SIGKILL'),
  };
}
