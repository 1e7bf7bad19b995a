// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { HubError } from '../../base/index.ts';
import { loadConfiguration, loadWithSources } from '../load-configuration.ts';
import { createWorkspace, load, ready } from '../workspace.fixture.ts';

const own = (value: string): string => `servers:\n  s: { command: x, env: { V: ${JSON.stringify(value)} } }\n`;

test(
  verifies('secrets:first', 'the store beats .env, which beats the environment; predefined names beat all'),
  async () => {
    const files = {
      '.env': 'A=a-of-the-file\nB=b-of-the-file\n',
      'quartermaster.yaml': own('${A} ${B} ${C} ${WORKSPACE_ROOT}'),
    };
    const env = { A: 'a-of-the-shell', B: 'b-of-the-shell', C: 'c-of-the-shell' };
    const configuration = await load(files, env, { A: 'a-of-the-store', WORKSPACE_ROOT: '/elsewhere' });
    expect(configuration.problems).toEqual([]);
    expect(ready(configuration, 's').transport).toMatchObject({
      env: { V: `a-of-the-store b-of-the-file c-of-the-shell ${configuration.workspace}` },
    });
  },
);

test('every stored value is redacted, used or not; a short one only where it is used', async () => {
  const configuration = await load(
    { 'quartermaster.yaml': own('${SHORT}') },
    {},
    { SHORT: 'x9z', UNUSED: 'value-of-none', BRIEF: 'q7' },
  );
  expect(configuration.secrets).toEqual(['value-of-none']);
  expect(configuration.shortSecrets).toEqual(['x9z']);
});

test(
  verifies('secrets:first', 'if the store cannot be read, no variable has a value and the problem is fatal'),
  async () => {
    const workspace = await createWorkspace({ '.env': 'A=of-the-file\n', 'quartermaster.yaml': own('${A}') });
    const secrets = {
      file: '/state/secrets.json',
      values: () => Promise.reject(new HubError('CONFIG_INVALID', 'It was changed.', { hint: 'Restore it.' })),
    };
    const configuration = await loadConfiguration({ env: { A: 'of-the-shell' }, secrets }, { workspace });
    expect(configuration.problems[0]).toEqual({
      severity: 'error',
      file: '/state/secrets.json',
      message: 'It was changed.',
      fix: 'Restore it.',
      fatal: true,
    });
    expect(JSON.stringify([...configuration.servers])).not.toContain('of-the-');
  },
);

test('the servers of each variable are known, also where it has no value', async () => {
  const workspace = await createWorkspace({
    'quartermaster.yaml':
      'servers:\n  a: { command: x, env: { V: "${ONE}${TWO:-x}" } }\n  b: { url: "https://x.example", headers: { H: "${ONE}" } }\n',
  });
  const { uses } = await loadWithSources({ env: {} }, { workspace });
  expect(uses).toEqual(
    new Map([
      ['ONE', ['a', 'b']],
      ['TWO', ['a']],
    ]),
  );
});
