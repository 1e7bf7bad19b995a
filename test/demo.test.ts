import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Parser } from 'htmlparser2';
import { expect, test } from 'vitest';
import { animatedSvg } from '../scripts/demo/animated-svg.mjs';
import { screenOf } from '../scripts/demo/terminal-screen.mjs';
import { verifies } from './support/verifies.ts';

const root = resolve(import.meta.dirname, '..');
const recorded = readFileSync(join(root, 'docs', 'images', 'demo.svg'), 'utf8');

/** The texts of an SVG, with the class of each. Throws where it is not well-formed. */
function textsOf(svg: string): { readonly kind: string; readonly text: string }[] {
  const texts: { kind: string; text: string }[] = [];
  const open: string[] = [];
  const parser = new Parser(
    {
      onopentag(name, { class: kind = '' }) {
        open.push(name);
        if (name === 'text') texts.push({ kind, text: '' });
      },
      ontext(text) {
        const last = texts.at(-1);
        if (open.at(-1) === 'text' && last !== undefined) last.text += text;
      },
      onclosetag(name, isImplied) {
        const isSelfClosed = /^(rect|circle)$/.test(name);
        if (open.pop() !== name || (isImplied && !isSelfClosed)) throw new Error(`</${name}> is not where it belongs`);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(svg);
  if (open.length > 0 || /&(?!(amp|lt|gt|quot);)/.test(svg)) throw new Error('not well-formed');
  return texts;
}

test(verifies('docs:demo', 'the recorded session is an image that needs nothing else, in both colour schemes'), () => {
  expect(textsOf(recorded).length).toBeGreaterThan(50);
  expect(recorded.length).toBeLessThan(100_000);
  expect(recorded).toContain('prefers-color-scheme: dark');
  expect(recorded).toContain('prefers-reduced-motion');
  expect(recorded).not.toMatch(/<script|<foreignObject|href=|@import|url\((?!#)/);
  expect(recorded).not.toContain('qm-demo-');
});

test('the commands of the recorded session exist, with the options that it uses', () => {
  const typed = textsOf(recorded).flatMap(({ kind, text }) => (kind === 'typed' ? [text] : []));
  const commands = typed.filter((text) => text.startsWith('qm '));
  expect(commands.map((text) => text.split(' ')[1])).toEqual(
    expect.arrayContaining(['trust', 'serve', 'tools', 'call', 'explain', 'calls']),
  );
  for (const command of commands) {
    const [, name = '', ...rest] = command.split(' ');
    const help = execFileSync(process.execPath, [join(root, 'bin', 'qm'), name, '--help'], { encoding: 'utf8' });
    expect(help).toContain(`Usage: qm ${name}`);
    for (const option of rest.filter((word) => word.startsWith('--'))) expect(help, command).toContain(option);
  }
});

test('a terminal is understood: colours, progress that is overwritten, and a prompt', () => {
  const esc = String.fromCharCode(27);
  const output = [
    `Asking …\r${esc}[K${esc}[36mfiles${esc}[39m ${esc}[2m4 tools${esc}[22m\r\n`,
    `${esc}[1G${esc}[0JApprove? ${esc}[10Gy\r\n`,
    'abcdef\r\nxy',
  ].join('');
  expect(screenOf(output, 20)).toEqual([
    [
      { column: 0, text: 'files', style: 'cyan' },
      { column: 6, text: '4 tools', style: 'dim' },
    ],
    [{ column: 0, text: 'Approve? y', style: '' }],
    [{ column: 0, text: 'abcdef', style: '' }],
    [{ column: 0, text: 'xy', style: '' }],
  ]);
  expect(screenOf('abcdef', 4).map((runs) => runs.map(({ text }) => text))).toEqual([['abcd'], ['ef']]);
  expect(() => screenOf(`${esc}[5q`, 4)).toThrow('[ 5q');
});

test('a scene appears when it is due, and its text is text', () => {
  const lines = [[{ column: 2, text: '<a & b>', style: 'red' }]];
  const svg = animatedSvg(
    [
      { seconds: 4, shots: [{ at: 1, row: 0, typed: 'qm ls' }] },
      { seconds: 6, shots: [{ at: 0, row: 1, lines }] },
    ],
    { columns: 20, rows: 4, title: 'Two screens' },
  );
  expect(textsOf(svg)).toEqual([
    { kind: 'prompt', text: '$' },
    { kind: 'typed', text: 'qm ls' },
    { kind: 'red', text: '<a & b>' },
  ]);
  expect(svg).toContain('@keyframes s0 { 0% { opacity: 0; } 10.00% { opacity: 1; } 40.00% { opacity: 0; } }');
  expect(svg).toContain('{ 0% { opacity: 0; } 40.00% { opacity: 1; } }');
});
