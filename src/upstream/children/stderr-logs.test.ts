import { expect, test } from 'vitest';
import { createStderrLogs, type StderrLogs } from './stderr-logs.ts';

const clock = { now: () => 5 };
const textsOf = (logs: StderrLogs, server = 's', seq = 0): string[] => logs.after(server, seq).map(({ text }) => text);

test('lines of all processes of a server are numbered in the order in which they end', () => {
  const logs = createStderrLogs({ clock });
  const [one, two] = [logs.open('s', 1), logs.open('s', 2)];
  one.push(Buffer.from('first\r\nhalf'));
  two.push(Buffer.from('other\n\n'));
  one.push(Buffer.from(' of it\n'));
  expect(logs.after('s', 0)).toEqual([
    { seq: 1, at: 5, pid: 1, text: 'first' },
    { seq: 2, at: 5, pid: 2, text: 'other' },
    { seq: 3, at: 5, pid: 1, text: 'half of it' },
  ]);
  expect(textsOf(logs, 's', 2)).toEqual(['half of it']);
  expect(logs.after('unknown', 0)).toEqual([]);
});

test('a character may come in two pieces, and the last line without an end', () => {
  const logs = createStderrLogs({ clock });
  const writer = logs.open('s', 1);
  const bytes = Buffer.from('größe');
  writer.push(bytes.subarray(0, 3));
  writer.push(bytes.subarray(3));
  expect(textsOf(logs)).toEqual([]);
  writer.end();
  writer.end();
  expect(textsOf(logs)).toEqual(['größe']);
});

test('lines, servers and all of them together are bounded', () => {
  const logs = createStderrLogs({ clock }, { lines: 3, serverLength: 20, length: 30, lineLength: 8 });
  const writer = logs.open('a', 1);
  writer.push(Buffer.from('1\n2\n3\n4\n'));
  expect(textsOf(logs, 'a')).toEqual(['2', '3', '4']);
  expect(logs.after('a', 0)[0]?.seq).toBe(2);
  writer.push(Buffer.from('a line that is long\n'));
  expect(textsOf(logs, 'a')).toEqual(['3', '4', 'a line t']);
  writer.push(Buffer.from('12345678\n12345678\n'));
  expect(textsOf(logs, 'a')).toEqual(['12345678', '12345678']);
  logs.open('b', 2).push(Buffer.from('12345678\n'));
  expect(textsOf(logs, 'a')).toHaveLength(2);
  logs.open('b', 2).push(Buffer.from('12345678\n'));
  expect(textsOf(logs, 'a')).toEqual([]);
  expect(textsOf(logs, 'b')).toHaveLength(2);
  writer.push(Buffer.from('again\n'));
  expect(logs.after('a', 0)).toMatchObject([{ seq: 8, text: 'again' }]);
});

test('of a flood only whole lines of its end are kept', () => {
  const logs = createStderrLogs({ clock });
  const writer = logs.open('s', 1);
  writer.push(Buffer.from(`begun ${'x'.repeat(20_000)} torn\nwhole\n`));
  expect(textsOf(logs)).toEqual(['whole']);
  writer.push(Buffer.from('y'.repeat(20_000)));
  writer.push(Buffer.from(' rest\nnext\n'));
  expect(textsOf(logs)).toEqual(['whole', 'next']);
  writer.push(Buffer.from('z'.repeat(20_000)));
  writer.end();
  expect(textsOf(logs)).toEqual(['whole', 'next']);
});

test('listeners hear of the lines of their server until they leave', () => {
  const logs = createStderrLogs({ clock });
  let heard = 0;
  const leave = logs.onLines('s', () => {
    heard += 1;
  });
  logs.open('s', 1).push(Buffer.from('a\nb\n'));
  logs.open('t', 1).push(Buffer.from('a\n'));
  leave();
  logs.open('s', 1).push(Buffer.from('c\n'));
  expect(heard).toBe(1);
});
