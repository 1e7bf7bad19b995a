import { expect, test } from 'vitest';
import { readMetrics } from '../../../test/support/prometheus-text.ts';
import { expositionText } from './exposition.ts';

test('a family has one head, its samples follow in order', () => {
  const text = expositionText([
    {
      name: 'a_total',
      type: 'counter',
      help: 'Counts a.',
      samples: [
        { labels: { server: 'x', outcome: 'ok' }, value: 3 },
        { labels: { server: 'y', outcome: 'ok' }, value: 0 },
      ],
    },
    { name: 'b', type: 'gauge', help: 'Is b.', samples: [{ labels: {}, value: 1.5 }] },
    { name: 'c', type: 'gauge', help: 'Is not there yet.', samples: [] },
  ]);
  expect(text).toBe(
    [
      '# HELP a_total Counts a.',
      '# TYPE a_total counter',
      'a_total{server="x",outcome="ok"} 3',
      'a_total{server="y",outcome="ok"} 0',
      '# HELP b Is b.',
      '# TYPE b gauge',
      'b 1.5',
      '# HELP c Is not there yet.',
      '# TYPE c gauge',
      '',
    ].join('\n'),
  );
});

test.each(['a"b', 'a\\b', 'a\nb', '\\n', '\\"', '"},evil="1', '{}=,', 'größer 木'])(
  'a label value is read as it was: %j',
  (value) => {
    const samples = [{ labels: { server: value, state: 'idle' }, value: 1 }];
    const text = expositionText([{ name: 'a', type: 'gauge', help: 'x', samples }]);
    expect(text.split('\n')).toHaveLength(4);
    expect(readMetrics(text).get('a')?.samples).toEqual([
      { name: 'a', labels: { server: value, state: 'idle' }, value: 1 },
    ]);
  },
);

test('a help text stays on its line, quotes in it stay quotes', () => {
  const text = expositionText([{ name: 'a', type: 'gauge', help: 'two\nlines, a \\ and "quotes"', samples: [] }]);
  expect(text).toBe('# HELP a two\\nlines, a \\\\ and "quotes"\n# TYPE a gauge\n');
});

test('numbers are written as Prometheus reads them', () => {
  const values = [0, 1e21, 1e-7, 1_700_000_000.25, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
  const samples = values.map((value, index) => ({ labels: { index: String(index) }, value }));
  const text = expositionText([{ name: 'a', type: 'gauge', help: 'x', samples }]);
  expect(text).not.toContain('Infinity');
  expect(
    readMetrics(text)
      .get('a')
      ?.samples.map(({ value }) => value),
  ).toEqual(values);
});
