import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseTraceParent } from '@opentelemetry/core';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readScenes } from './support/doc-blocks.ts';

const root = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const metrics = read('docs/metrics.md');
const telemetry = read('docs/telemetry.md');

/** The block of a page in that language. */
function block(page: string, language: string): string {
  const blocks = readScenes('page', page).flatMap((scene) => scene.blocks);
  return blocks.find((each) => each.language === language)?.text ?? '';
}

/** What the first cells of a page's tables name. */
function named(page: string, name: RegExp): string[] {
  const cells = [...page.matchAll(/^\| (.+?) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => cell.match(name) ?? []).sort();
}

test('docs/metrics.md lists every family, and its questions ask for no other', () => {
  const source = read('src/faces/metrics/families.ts') + read('src/faces/metrics/approval-families.ts');
  const families = [...source.matchAll(/quartermaster_\w+/g)].map(([name]) => name).sort();
  expect(families.length).toBeGreaterThan(15);
  expect(named(metrics, /quartermaster_\w+/g)).toEqual(families);
  const asked = [...block(metrics, 'promql').matchAll(/quartermaster_\w+/g)].map(([name]) => name);
  expect(asked.length).toBeGreaterThan(4);
  expect(asked.map((name) => name.replace(/_bucket$/, '')).filter((name) => !families.includes(name))).toEqual([]);
});

test('docs/metrics.md tells Prometheus where the hub is by default, and where its token lies', () => {
  expect(parse(block(metrics, 'yaml'))).toEqual({
    scrape_configs: [
      {
        job_name: 'quartermaster',
        authorization: { credentials_file: '/path/of/the/state/folder/admin-token' },
        static_configs: [{ targets: ['127.0.0.1:4680'] }],
      },
    ],
  });
});

test('docs/telemetry.md lists every attribute of a span', () => {
  const pattern = /(?<=[`'])(?:mcp|gen_ai|quartermaster|error)?\.?[a-z_]+(?:\.[a-z_]+)+(?=[`'])/g;
  const given = read('src/faces/telemetry/otel-tracer.ts').match(
    /(?<=')(?:mcp|gen_ai|quartermaster|error)\.[a-z_.]+(?=')/g,
  );
  // The page shortens a list of the same beginning.
  const page = telemetry.replaceAll(/`(\w+)\.\w+`(?:, `\.\w+`)+/g, (list, start: string) =>
    list.replaceAll('`.', `\`${start}.`),
  );
  expect(named(page, pattern)).toEqual([...new Set(given)].sort());
});

test('docs/telemetry.md shows a message whose trace is taken', () => {
  const { method, params } = JSON.parse(block(telemetry, 'json')) as { method: string; params: Params };
  expect(method).toBe('tools/call');
  expect(parseTraceParent(params._meta.traceparent)).not.toBeNull();
});

interface Params {
  readonly _meta: { readonly traceparent: string };
}
