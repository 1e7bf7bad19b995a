import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSilentLogger, createSystemClock, systemRandom } from '../../base/index.ts';
import { until } from './fixtures/processes.mjs';
import { createChildren } from './index.ts';

/** Processes are real; what the hub writes to each is noted, and lines to the watchdog may be held back. */
const streams = vi.hoisted(() => ({ held: [] as (() => void)[], written: [] as string[], hold: false }));

vi.mock('node:child_process', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:child_process')>();
  const spawn = (file: string, args: string[], options: object): ChildProcess => {
    const child = original.spawn(file, args, options);
    const receiver = args.includes('quartermaster-watchdog') ? 'watchdog' : 'child';
    const write = child.stdin?.write.bind(child.stdin) as (...all: unknown[]) => boolean; // as it is called below
    Object.assign(child.stdin ?? {}, {
      write: (...all: unknown[]) => {
        const go = (): boolean => {
          streams.written.push(`${receiver}: ${String(all[0]).replaceAll(/\d+/g, 'PID')}`);
          return write(...all);
        };
        if (receiver !== 'watchdog' || !streams.hold) return go();
        streams.held.push(go);
        return true;
      },
    });
    return child;
  };
  return { ...original, spawn };
});

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-gate-order-'));
});

afterEach(() => rm(folder, { recursive: true }));

test(
  verifies('children:gate', 'the gate opens only when the registration is in the pipe of the watchdog'),
  async () => {
    const children = createChildren(
      { clock: createSystemClock(), logger: createSilentLogger(), random: systemRandom },
      { baseEnv: { PATH: '/usr/bin:/bin' } },
    );
    const marker = join(folder, 'ran');
    streams.hold = true;
    const starting = children.start({ server: 's', command: 'touch', args: [marker], env: {}, cwd: folder });
    await until(() => streams.held.length > 0, 'the child is about to be registered');
    expect(children.running).toBe(1);
    expect(streams.written).toEqual([]);
    streams.hold = false;
    for (const go of streams.held) go();
    await starting;
    await until(() => existsSync(marker), 'the command has run');
    expect(streams.written.slice(0, 2)).toEqual(['watchdog: +PID\n', 'child: \n']);
    await children.close();
  },
);
