import { expect, test } from 'vitest';
import { createManualClock } from '../../../base/manual-clock.fixture.ts';
import { type CliLogLevel, createLogger } from './cli-logger.ts';

function logged(level: CliLogLevel, say: (logger: ReturnType<typeof createLogger>) => void): unknown[] {
  const lines: string[] = [];
  const plain = (text: string): string => text;
  const terminal = { err: (line: string) => lines.push(line), errIsTerminal: false };
  const mask = { json: (line: string) => line.replaceAll('hunter22', '[redacted]'), message: plain };
  // Only what the logger takes of them.
  const cli = { terminal, mask, clock: createManualClock() } as unknown as Parameters<typeof createLogger>[0];
  say(createLogger(cli, level));
  return lines.map((line) => JSON.parse(line) as unknown);
}

test('an event is one line of JSON, errors are their message and secrets are hidden', () => {
  const [line] = logged('info', (logger) =>
    logger.warn('upstream.lost', { server: 'files', error: new Error('hunter22') }),
  );
  expect(line).toEqual({
    level: 'warn',
    time: expect.any(String),
    event: 'upstream.lost',
    server: 'files',
    error: '[redacted]',
  });
});

test.each([
  ['debug', 4],
  ['info', 3],
  ['warn', 2],
  ['error', 1],
  ['silent', 0],
] as const)('at level %s %i of four events are told', (level, count) => {
  const lines = logged(level, (logger) => {
    logger.debug('a');
    logger.info('b');
    logger.warn('c');
    logger.error('d');
  });
  expect(lines).toHaveLength(count);
});
