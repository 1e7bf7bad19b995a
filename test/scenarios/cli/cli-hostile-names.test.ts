import { expect, test } from 'vitest';
import { stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

const turned = 'read\u202eetirw\u2066\u200b';
const server = stdioServer('named-tools.mjs', [turned, 'plain', '\u2067odd'], {
  description: 'Notes\u202e \u001b[2J of \u009b31mthe team\u061c',
});

const commands: readonly (readonly string[])[] = [
  ['ls'],
  ['ls', '--json'],
  ['tools'],
  ['tools', '--json'],
  ['inspect', 'notes'],
  ['inspect', 'notes', '--json'],
  ['doctor'],
  ['doctor', '--json'],
  ['explain', `notes.${turned}`, '--agent', 'lead'],
  ['call', `notes.\u001b[2J${turned}`],
  ['call', 'notes.plain'],
  ['calls'],
  ['calls', '--json'],
  ['no-such-command\u202e'],
];

/** The CLI's own sequences: colours and redrawing. */
const ours = new RegExp(`${String.fromCharCode(27)}\\[(?:\\d{1,2}m|[JK]|\\d+A|\\?25[lh])|[\\r\\n\\t]`, 'g');

test.each([
  ['on a terminal', { columns: 100 }],
  ['in a pipe', {}],
])(verifies('cli:printable', 'every command escapes foreign names and texts, %s'), async (_, width) => {
  const workspace = await makeWorkspace({ servers: { notes: server } });
  for (const command of commands) {
    const { stdout, stderr } = await runHere(command, { cwd: workspace, ...width });
    const said = (stdout + stderr).replace(ours, '');
    expect(said, command.join(' ')).not.toBe('');
    expect(said, command.join(' ')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  }
});
