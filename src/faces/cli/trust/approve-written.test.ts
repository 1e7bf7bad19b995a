import { writeFileSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { removeState, stateEnv } from '../../../../test/support/state-home.ts';
import { verifies } from '../../../../test/support/verifies.ts';
import { createSystemClock, systemRandom } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import { addServer } from '../servers/add-server.ts';
import { switchServer } from '../servers/switch-server.ts';
import { createMask } from '../terminal/mask.ts';
import { openChanges, readWorkspaceTrust } from './workspace-trust.ts';

const env: CliContext['env'] = { ...stateEnv, XDG_CONFIG_HOME: '/nonexistent' };
const stdin: CliContext['stdin'] = new PassThrough();
const cli = { env, stdin, clock: createSystemClock(), random: systemRandom, mask: createMask() } as CliContext;

const textWith = (rule: string): string =>
  `servers: { one: { command: node, enabled: false } }\npolicies: { tools: { one.${rule}: deny } }\n`;
const [good, evil] = [textWith('danger'), textWith('nothing')];

/** Somebody else writes the file whenever the command looks at its surroundings for the n-th time. */
function disturbed(file: string, at: number, text: string): CliContext {
  let looks = 0;
  return Object.defineProperty({ ...cli }, 'env', {
    get() {
      if (looks === at) writeFileSync(file, text);
      looks += 1;
      return env;
    },
  });
}

const commands = {
  'qm add': (own: CliContext, workspace: string) =>
    addServer(own, workspace, { name: 'two', body: { command: 'node' }, agent: undefined, preset: undefined }),
  'qm enable': (own: CliContext, workspace: string) => switchServer(own, workspace, 'one', true),
};

test.each(Object.entries(commands))(
  verifies('trust:acts', '%s approves no rule that was written while it ran'),
  { timeout: 120_000 },
  async (_, run) => {
    let [refused, written] = [0, 0];
    for (let at = 0; at < 16; at += 1) {
      const workspace = await realpath(await mkdtemp(join(tmpdir(), 'qm-race-')));
      onTestFinished(async () => {
        await removeState(workspace);
        await rm(workspace, { recursive: true, force: true });
      });
      const file = join(workspace, 'quartermaster.yaml');
      writeFileSync(file, good);
      const { loaded } = await readWorkspaceTrust(cli, workspace);
      const changes = await openChanges(cli, workspace);
      await changes.approve(loaded, changes.itemsOf(loaded), 'command');
      await run(disturbed(file, at, evil), workspace).then(
        () => {
          written += 1;
        },
        () => {
          refused += 1;
        },
      );
      // Whatever became of the command: with the other rules on disk, they wait.
      const text = await readFile(file, 'utf8');
      writeFileSync(file, text.includes('nothing') ? text : evil);
      const { pending } = await readWorkspaceTrust(cli, workspace);
      expect(
        pending.map(({ item }) => item.kind),
        `change ${at}`,
      ).toContain('policy');
    }
    expect(written).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  },
);
