import { expect, test } from 'vitest';
import { doctorSchema, explainSchema } from '../../../src/faces/cli/json-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, type QmResult, runQm } from '../qm.fixture.ts';

/** Two names that the server does not have: in a list, and in a rule. */
const config = {
  servers: {
    files: stdioServer('echo-stdio.mjs', [], { excludeTools: ['cuonter'] }),
    other: stdioServer('echo-modern.mjs'),
  },
  agents: { tester: { servers: ['files'] }, lead: { servers: ['files', 'other'] } },
  policies: { tools: { 'files.ecoh': 'deny', 'other.nothing_like_it': 'deny', 'gone.x': 'deny' } },
};

const qmIn = (workspace: string, line: string): Promise<QmResult> =>
  runQm([...line.split(' '), '--workspace', workspace]);

const list =
  /warning quartermaster\.yaml:\d+ The exclude list of server files names "cuonter", which server files does not have\. Did you mean "counter"\?/;
const rule =
  /warning quartermaster\.yaml:\d+ A rule names "files\.ecoh", which server files does not have\. Did you mean "files\.echo"\?/;

test(verifies('cli:unknown-names', 'doctor, tools and explain tell names that a server does not have'), async () => {
  const workspace = await makeWorkspace(config);
  // Before the first start nobody knows what the server has.
  expect((await qmIn(workspace, 'explain files.ecoh --agent tester')).stderr).toBe('');
  const doctor = await qmIn(workspace, 'doctor files --json');
  const { problems } = doctorSchema.parse(JSON.parse(doctor.stdout));
  expect(problems.map(({ server, fix }) => [server, fix])).toEqual([
    [undefined, 'Configure the server, or remove the name.'],
    ['files', 'Did you mean "counter"?'],
    ['files', 'Did you mean "files.echo"?'],
  ]);
  const shown = await qmIn(workspace, 'doctor');
  expect(shown.stdout).toContain('names "cuonter", which server files does not have');
  expect(shown.stdout).toContain('names "other.nothing_like_it", which server other does not have');
  const tools = await qmIn(workspace, 'tools --agent tester');
  expect(tools.stderr).toMatch(list);
  expect(tools.stderr).toMatch(rule);
  expect(tools.stderr).not.toContain('nothing_like_it');
  const explain = await qmIn(workspace, 'explain files.echo --agent tester');
  expect(explain).toMatchObject({ code: 0, stdout: expect.stringContaining('files.echo is allowed') });
  expect(explain.stderr).toMatch(list);
  expect(explain.stderr).toMatch(rule);
});

test(
  verifies('cli:unknown-names', 'explain says that a server has no such tool, once its tools are known'),
  async () => {
    const workspace = await makeWorkspace(config);
    const before = await qmIn(workspace, 'explain files.raw_arg --agent tester --json');
    expect(explainSchema.parse(JSON.parse(before.stdout))).toMatchObject({ decision: 'allow', known: null });
    expect(before.code).toBe(0);
    await qmIn(workspace, 'tools --agent tester');
    const after = await qmIn(workspace, 'explain files.raw_arg --agent tester');
    expect(after.code).toBe(2);
    expect(after.stdout).toMatch(
      /^Server "files" has no tool "raw_arg"\. Did you mean files\.raw_args\? By the rules, files\.raw_arg is allowed: /,
    );
    const alone = await qmIn(workspace, 'explain raw_args --agent tester');
    expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean files.raw_args?') });
    const asJson = await qmIn(workspace, 'explain files.raw_arg --agent tester --json');
    expect(explainSchema.parse(JSON.parse(asJson.stdout))).toMatchObject({
      decision: 'allow',
      known: false,
      text: expect.stringMatching(/^Server "files" has no tool "raw_arg"\. Did you mean/),
    });
    const known = await qmIn(workspace, 'explain files.raw_args --agent tester --json');
    expect(explainSchema.parse(JSON.parse(known.stdout))).toMatchObject({ known: true });
    const resource = await qmIn(workspace, 'explain files.resource:file:///x --agent tester --json');
    expect(explainSchema.parse(JSON.parse(resource.stdout)).known).toBeNull();
  },
);
