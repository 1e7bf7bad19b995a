import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { RuleEffect } from '../../domain/index.ts';
import { compilePolicy } from '../../governance/index.ts';
import { type ConfigurationDraft, draftConfiguration } from '../../governance/policy/configuration.fixture.ts';
import { type CatalogDraft, catalogWith, handlesOf, sourceOf } from '../scripted-server.fixture.ts';
import { buildView } from './view.ts';

const serverNames = ['a', 'a_b', 'A-b', 'web'];
const uris = ['memo://1', 'memo://2', 'a+memo://1', 'log://x/1', 'a-b+log://1'];
const forms = ['memo://{id}', 'log://{day}/{line}', '{+all}', 'a+memo://{id}'];
const prompts = ['greet', 'a_greet', 'b_greet'];
const subjects = [...[...uris, ...forms].map((uri) => `resource:${uri}`), ...prompts.map((name) => `prompt:${name}`)];

const pattern = fc
  .tuple(fc.constantFrom(...serverNames, '*'), fc.constantFrom(...subjects, '*', 'resource:*', 'prompt:gr*'))
  .map(([server, subject]) => `${server}.${subject}`);
const policy = fc.dictionary(pattern, fc.constantFrom<RuleEffect>('allow', 'require-approval', 'deny'), { maxKeys: 4 });
const entries = fc.array(fc.constantFrom(...subjects, '*', 'resource:memo://*', 'read'), { maxLength: 3 });
const server = fc.record({ tools: fc.record({ include: entries, exclude: entries }, { requiredKeys: [] }) });
const configurations: fc.Arbitrary<ConfigurationDraft> = fc.record({
  servers: fc.dictionary(fc.constantFrom(...serverNames), server, { minKeys: 1 }),
  policy,
});
const serverCatalogs: fc.Arbitrary<Record<string, CatalogDraft>> = fc.dictionary(
  fc.constantFrom(...serverNames),
  fc.record({ resources: fc.subarray(uris), templates: fc.subarray(forms), prompts: fc.subarray(prompts) }),
);

test(
  verifies('view:list-is-call', 'what is listed to read is what the policy lets through, and leads to its own server'),
  () => {
    fc.assert(
      fc.property(configurations, serverCatalogs, (draft, offered) => {
        const { view, source, policy, servers } = stage(draft, offered);
        const expected = { uri: new Map(), uriTemplate: new Map(), name: new Map() };
        for (const [server, { catalog }] of servers) {
          const isSeen = (subject: string): boolean => policy.decideRead(server, subject).effect !== 'deny';
          for (const { uri } of catalog?.resources ?? [])
            if (isSeen(`resource:${uri}`)) expected.uri.set(source.resourceNames.nameOf(server, uri), [server, uri]);
          for (const { uriTemplate: form } of catalog?.templates ?? [])
            if (isSeen(`resource:${form}`))
              expected.uriTemplate.set(source.resourceNames.nameOf(server, form), [server, form]);
          for (const { name } of catalog?.prompts ?? [])
            if (isSeen(`prompt:${name}`)) expected.name.set(source.promptNames.nameOf(server, name), [server, name]);
        }
        const lists = [
          [view.resourcesText, 'uri', 'resource', ''],
          [view.templatesText, 'uriTemplate', 'completion', 'resource:'],
          [view.promptsText, 'name', 'prompt', ''],
        ] as const;
        for (const [text, member, kind, prefix] of lists) {
          const listed = (JSON.parse(text) as Record<string, string>[]).map((item) => item[member] ?? '');
          expect(listed).toEqual([...expected[member].keys()].sort());
          for (const name of listed) {
            const target = view.find(kind, prefix + name);
            expect([target?.server, target?.ownName]).toEqual(expected[member].get(name));
          }
        }
      }),
      { numRuns: 300 },
    );
  },
);

test(verifies('view:resources-hidden', 'nothing is found that the policy denies on its server'), () => {
  const asked = fc.constantFrom(
    ...serverNames.map((name) => `${name.toLowerCase()}+memo://1`),
    ...uris,
    'memo://9',
    'x:y',
  );
  let found = 0;
  fc.assert(
    fc.property(configurations, serverCatalogs, asked, (draft, offered, uri) => {
      const { view, policy } = stage(draft, offered);
      const target = view.find('resource', uri);
      if (target === undefined) return;
      found++;
      expect(policy.decideRead(target.server, target.subjectName).effect).not.toBe('deny');
      expect(uri.endsWith(target.ownName)).toBe(true);
    }),
    { numRuns: 300 },
  );
  // About a quarter of the runs, so that the test cannot pass because nothing is ever found.
  expect(found).toBeGreaterThan(20);
});

function stage(draft: ConfigurationDraft, offered: Readonly<Record<string, CatalogDraft>>) {
  const configuration = draftConfiguration(draft);
  const servers = handlesOf(configuration, {});
  for (const [name, server] of servers) server.catalog = catalogWith(offered[name] ?? {});
  const source = sourceOf(configuration, servers);
  source.resourceNames.adopt(servers.keys());
  const policy = compilePolicy(configuration, ['dev']);
  return { view: buildView(source, policy, ['dev']), source, policy, servers };
}
