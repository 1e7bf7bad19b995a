import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test } from 'vitest';
import { fixturePath } from '../support/fixture-servers.ts';
import { eventually } from '../support/within.ts';

test('late.mjs answers late, reports progress, announces its second tool, and records what it received', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'qm-late-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const record = join(folder, 'received.jsonl');
  const delays = { start: 10, list: 10, call: 20, progress: 10, grow: 10 };
  const options = Object.entries(delays).flatMap(([name, ms]) => [`--${name}`, String(ms)]);
  const client = new Client({ name: 'a-client', version: '1' });
  onTestFinished(() => client.close());
  let changes = 0;
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    changes += 1;
  });
  const args = [fixturePath('late.mjs'), '--record', record, ...options];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  expect(await names()).toEqual(['late_echo']);
  await eventually(() => (changes > 0 ? true : undefined), 'the list to change');
  expect(await names()).toEqual(['late_echo', 'late_grown']);
  const progress: number[] = [];
  const call = { name: 'late_echo', arguments: { message: 'hi' } };
  const result = await client.callTool(call, { onprogress: (update) => progress.push(update.progress) });
  expect(result.content).toEqual([{ type: 'text', text: 'hi' }]);
  expect(progress[0]).toBe(1);
  const lines = (await readFile(record, 'utf8')).trim().split('\n');
  const methods = lines.map((line) => (JSON.parse(line) as { method: string }).method);
  expect(methods).toEqual(expect.arrayContaining(['initialize', 'tools/list', 'list_changed sent', 'tools/call']));
});
