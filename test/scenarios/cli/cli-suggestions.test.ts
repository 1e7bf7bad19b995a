import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tokenIssueSchema } from '../../../src/faces/cli/json-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { writeCalls } from '../hub/ledger-lines.fixture.ts';
import { makeWorkspace, type QmResult, runQm } from '../qm.fixture.ts';

const team = {
  servers: { files: stdioServer('echo-stdio.mjs'), github: { url: 'https://github.example/mcp' } },
  agents: { tester: { servers: ['files'] }, lead: { servers: ['files'] } },
};

const qmIn = (workspace: string, line: string): Promise<QmResult> =>
  runQm([...line.split(' '), '--workspace', workspace]);

test.each([
  ['doctor flies', 2, 'No server "flies" is configured. Did you mean files?'],
  ['inspect gihtub', 2, 'Did you mean github?'],
  ['trust file', 2, 'Did you mean files?'],
  ['enable flies', 2, 'Did you mean files?'],
  ['disable zebra', 2, 'Configured servers: files, github.'],
  ['call fiels.echo --agent tester', 2, 'Did you mean files.echo?'],
  ['explain fiels.echo --agent tester', 2, 'Did you mean files.echo?'],
  ['call files.ecko message=1 --agent tester', 2, 'Server "files" has no tool "ecko". Did you mean files.echo?'],
  ['call files_ecko message=1 --agent tester', 2, 'Did you mean files.echo?'],
  ['call echo message=1 --agent tester', 2, 'Agent tester has no tool "echo". Did you mean files.echo?'],
  ['call files.echo message=1 --agent tseter', 5, 'The configuration has no agent "tseter"'],
  ['add gh --preset gthub', 2, 'There is no preset "gthub". Did you mean github?'],
  ['bootstrap notoin', 2, 'There is no preset "notoin". Did you mean notion?'],
  ['secret rm GITHUB_TOKN', 2, 'No secret "GITHUB_TOKN" is stored. Did you mean GITHUB_TOKEN?'],
  ['calls --run nigthly', 0, 'Did you mean --run nightly?'],
  ['calls --agent tseter', 0, 'Did you mean --agent tester?'],
  ['calls --server fils', 0, 'Did you mean --server files?'],
  ['calls --outcome denid', 2, 'Did you mean denied?'],
  ['summarize --run nigthly', 0, 'Did you mean --run nightly?'],
  [
    'token issue --agent tseter',
    0,
    'has no agent "tseter"; this agent will see no server at all. Did you mean tester?',
  ],
  ['ls --log-level wran', 2, 'Did you mean warn?'],
  ['completion bahs', 2, 'Did you mean bash?'],
])(verifies('cli:did-you-mean', 'qm %s gets a suggestion'), async (line, code, said) => {
  const workspace = await makeWorkspace(team);
  writeCalls(workspace, 'nightly', {});
  if (line.startsWith('secret')) {
    expect((await runQm(['secret', 'set', 'GITHUB_TOKEN', '--workspace', workspace], { input: 'x1y2z3w4' })).code).toBe(
      0,
    );
  }
  const result = await qmIn(workspace, line);
  expect(result.stderr).toContain(said);
  expect(result.code).toBe(code);
});

test(verifies('cli:did-you-mean', 'a token is found by its id, by a typo in it, and by the token itself'), async () => {
  const workspace = await makeWorkspace(team);
  const issued = await qmIn(workspace, 'token issue --agent tester --json');
  const { id, token } = tokenIssueSchema.parse(JSON.parse(issued.stdout));
  const typo = `${id.slice(0, 4)}${id[5]}${id[4]}${id.slice(6)}`;
  const mistyped = await qmIn(workspace, `token revoke ${typo === id ? `${id}x` : typo}`);
  expect(mistyped).toMatchObject({ code: 1, stdout: '' });
  expect(mistyped.stderr).toContain(`Did you mean ${id}?`);
  const child = await qmIn(workspace, `token issue --agent lead --parent ${token} --json`);
  expect(child.code, child.stderr).toBe(0);
  const revoked = await qmIn(workspace, `token revoke ${token}`);
  expect(revoked).toMatchObject({ code: 0, stderr: `Token ${id} is revoked, with every token delegated from it.\n` });
  const again = await qmIn(workspace, `token revoke ${token}`);
  expect(again.stderr).toContain('There are no valid tokens.');
  expect(again.stderr).not.toContain(token.slice(-12));
});

test(verifies('cli:did-you-mean', 'a field of qm secret move gets a suggestion'), async () => {
  const workspace = await makeWorkspace();
  const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
  const remote = { url: 'https://a.example/mcp', headers: { Authorization: `Bearer ${secret}` } };
  await writeFile(join(workspace, '.mcp.json'), JSON.stringify({ mcpServers: { remote } }));
  const field = await qmIn(workspace, 'secret move remote headers.Authorisation');
  expect(field.stderr).toContain('Did you mean headers.Authorization?');
  const server = await qmIn(workspace, 'secret move remoet');
  expect(server.stderr).toContain('Did you mean remote?');
  expect(field.stderr + server.stderr).not.toContain(secret);
});
