// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { onlyProblem, own } from '../workspace.fixture.ts';

/** Put together here, so that no scanner takes this file for a leak. */
const token = (prefix: string, length = 36): string => prefix + 'aB3'.repeat(20).slice(0, length);

test.each([
  [
    'Authorization',
    `url: "https://x.example", headers: { Authorization: "Bearer ${token('', 20)}" }`,
    token('', 20),
    '${S_1_TOKEN}',
  ],
  [
    'API key header',
    `url: "https://x.example", headers: { X-Api-Key: ${token('', 20)} }`,
    token('', 20),
    '${S_1_TOKEN}',
  ],
  [
    'header with underscores',
    `url: "https://x.example", headers: { CONTEXT7_API_KEY: ${token('', 20)} }`,
    token('', 20),
    '${S_1_TOKEN}',
  ],
  ['token in any header', `url: "https://x.example", headers: { X: ${token('ghp_')} }`, token('ghp_'), '${S_1_TOKEN}'],
  ['address', `url: "https://x.example/${token('sk-')}"`, token('sk-'), '${S_1_TOKEN}'],
  ['query', `url: "https://x.example/?a=1&api_key=${token('', 16)}"`, token('', 16), '${S_1_TOKEN}'],
  ['environment', `command: x, env: { MY_API_KEY: ${token('', 10)} }`, token('', 10), '${MY_API_KEY}'],
  ['token under any name', `command: x, env: { X: ${token('github_pat_')} }`, token('github_pat_'), '${X}'],
  ['default of a variable', `command: x, env: { X: "\${A:-${token('ghp_')}}" }`, token('ghp_'), '${X}'],
  ['flag with value', `command: x, args: ["--access-token=${token('', 12)}"]`, token('', 12), '${S_1_TOKEN}'],
  ['flag before value', `command: x, args: [--password, ${token('', 12)}]`, token('', 12), '${S_1_TOKEN}'],
  ['database', `command: x, args: ["postgres://me:${token('', 12)}@db/x"]`, token('', 12), '${S_1_TOKEN}'],
])('a secret in the file is a warning that does not repeat it: %s', async (_what, body, secret, fix) => {
  const configuration = await own(`servers:\n  s-1: { ${body} }\n`);
  const problem = onlyProblem(configuration);
  expect(problem).toMatchObject({ severity: 'warning', line: 2, server: 's-1' });
  expect(problem.fix).toContain(fix);
  expect(JSON.stringify(problem)).not.toContain(secret);
  expect(configuration.servers.get('s-1')?.kind).toBe('ready');
  expect(configuration.secrets).toContain(secret);
});

test.each([
  'url: "https://x.example", headers: { Authorization: "Bearer ${T}", X-Trace: aaaaaaaaaaaaaaaaaaaaaaaa }',
  'url: "https://x.example/?token=${T}"',
  'command: x, env: { TOKEN: "${T}", API_KEY_FILE: /run/secrets/key, SECRET: /run/x, PASSWORD: short }',
  'command: x, args: [--token, "${T}", --password-file, /run/secrets/x, "postgres://me:${T}@db/x"]',
  'command: x, env: { A_TOKEN: YOUR_API_TOKEN, B_TOKEN: "<your token>", C_TOKEN: "[REDACTED]", D_TOKEN: "$D_TOKEN" }',
  'command: x, env: { A_TOKEN: "ghp_*****", B_TOKEN: "$input:key", C_TOKEN: "sk-...", D_TOKEN: ghp_xxxxxxxxxxxxxxxxxxxxxxxx }',
  'url: "https://x.example", headers: { API_KEY: "$input:my-api-key", Authorization: "Bearer ************" }',
  'command: x, args: [--token, "%TOKEN_VALUE%", --api-key=PUT_KEY_HERE, --password, xxxxxxxxxxxx]',
])('what is no secret is left alone: %s', async (body) => {
  expect((await own(`servers: { s: { ${body} } }`, { T: 'value-of-t' })).problems).toEqual([]);
});
