import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openStage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { approve, pendingOf, put, stored } from './trust.fixture.ts';

interface Server {
  readonly command?: string;
  readonly args?: readonly string[];
}

const json = (value: unknown): string => JSON.stringify(value);
const wrapped = (up: Server): string => json({ mcpServers: { up } });

/** The server as each of these files writes it, and the same without the tool `write`. */
const files: Readonly<Record<string, (up: Server, isLimited: boolean) => string>> = {
  '.roo/mcp.json': (up, isLimited) => wrapped({ ...up, ...(isLimited ? { disabledTools: ['write'] } : {}) }),
  '.qwen/settings.json': (up, isLimited) => wrapped({ ...up, ...(isLimited ? { excludeTools: ['write'] } : {}) }),
  'mcp.json': (up, isLimited) => wrapped({ ...up, ...(isLimited ? { tools: ['look'] } : {}) }),
  '.zed/settings.json': (up, isLimited) =>
    json({
      context_servers: { up },
      ...(isLimited ? { agent: { tool_permissions: { tools: { 'mcp:up:write': { default: 'deny' } } } } } : {}),
    }),
  '.amp/settings.json': (up, isLimited) =>
    json({ 'amp.mcpServers': { up }, ...(isLimited ? { 'amp.tools.disable': ['mcp__up__write'] } : {}) }),
  'crush.json': (up, isLimited) =>
    json({
      mcp: { up: { type: 'stdio', ...up } },
      ...(isLimited ? { options: { disabled_tools: ['mcp_up_write'] } } : {}),
    }),
  '.opencode/opencode.json': ({ command, args }, isLimited) =>
    json({
      mcp: { up: { type: 'local', command: [command, ...(args ?? [])] } },
      ...(isLimited ? { tools: { up_write: false } } : {}),
    }),
};

test.each(Object.keys(files))(
  verifies('trust:changed', '%s: nothing of it starts, changes or widens without an approval'),
  async (file) => {
    const write = files[file];
    if (write === undefined) throw new Error('one of its keys');
    const two = stdioServer('named-tools.mjs', ['look', 'write']);
    const three = stdioServer('named-tools.mjs', ['look', 'write', 'drop']);
    const stage = await openStage();
    await put(stage, file, write(two, true));
    await stage.open(stored);
    expect([await stage.names(), pendingOf(stage)]).toEqual([[], ['new up']]);
    await stage.stop();
    await approve(stage.workspace);
    await stage.open(stored);
    expect([await stage.names(), pendingOf(stage)]).toEqual([['up_look'], []]);
    // Another program, and the restriction is gone.
    await put(stage, file, write(three, false));
    await stage.hub.reload();
    expect([await stage.names(), pendingOf(stage)]).toEqual([['up_look'], ['changed up']]);
    await approve(stage.workspace);
    await stage.hub.reload();
    expect(await stage.names()).toEqual(['up_drop', 'up_look', 'up_write']);
    await stage.stop();
    await rm(stage.path(file));
    await stage.open(stored);
    expect(await stage.names()).toEqual([]);
  },
);
