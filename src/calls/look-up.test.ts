import { expect, test } from 'vitest';
import { createManualClock } from '../base/manual-clock.fixture.ts';
import { type ConfigurationDraft, draftConfiguration } from '../governance/policy/configuration.fixture.ts';
import { createTaskIds } from '../mcp/index.ts';
import type { CallRequest } from './call.ts';
import { plainRequest } from './call-stage.fixture.ts';
import { lookUp, lookUpDenied, missing, possibleOwners, undiscoveredOwner } from './look-up.ts';
import { type CatalogDraft, catalogWith, handlesOf, sourceOf } from './scripted-server.fixture.ts';
import { createViews } from './views/views.ts';

const notes = { resources: ['memo://notes/1'], templates: ['memo://notes/{id}'] };
const taskIds = createTaskIds({ key: Buffer.alloc(32) });

test('a server that is unavailable keeps its URIs: no other server is asked for them', () => {
  const { servers, source } = stage({ servers: { a: {}, b: {} } }, { a: notes, b: notes });
  const views = createViews({ clock: createManualClock() }, source);
  const a = servers.get('a');
  if (a === undefined) throw new Error('there is a server named a');
  [a.lastCatalog, a.catalog] = [a.catalog, undefined];
  a.status = { state: 'retrying' };
  views.renew(source);
  const view = views.of(['dev']);
  const request = { ...plainRequest, kind: 'resource', name: 'memo://notes/1' } as const;
  expect(view.find('resource', request.name)).toBeUndefined();
  expect(view.find('resource', `b+${request.name}`)?.server).toBe('b');
  expect(undiscoveredOwner(view, request, taskIds)).toBe(a.control);
  expect(missing(view, request, taskIds, 0)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', details: { server: 'a' } });
  expect(JSON.parse(view.templatesText)).toEqual([{ uriTemplate: 'b+memo://notes/{id}' }]);
  a.catalog = a.lastCatalog;
  views.renew(source);
  expect(views.of(['dev']).find('resource', request.name)?.server).toBe('a');
});

test('a resource may belong to a server that comes first and has never listed anything', () => {
  const { servers, source } = stage({ servers: { a: {}, b: {}, c: {} } }, { b: notes });
  for (const name of ['a', 'c']) Object.assign(servers.get(name) ?? {}, { catalog: undefined });
  const view = createViews({ clock: createManualClock() }, source).of(['dev']);
  const ownersOf = (name: string): readonly string[] | undefined => {
    const target = view.find('resource', name);
    return (
      target && possibleOwners(view, { ...plainRequest, kind: 'resource', name }, target).map(({ spec }) => spec.name)
    );
  };
  expect(ownersOf('memo://notes/1')).toEqual(['a']);
  expect(ownersOf('b+memo://notes/1')).toEqual([]);
});

test('a program names a tool by its server, and what is denied is found for the record alone', () => {
  const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
  const configuration = draftConfiguration({
    servers: { a: {}, 'a.b': {}, other: {}, late: {} },
    agents: { dev: { servers: ['a', 'a.b', 'late'] } },
    policy: { 'a.secret': 'deny', 'late.secret': 'deny' },
  });
  const servers = handlesOf(configuration, {
    a: [tool('b.read'), tool('secret'), tool('write')],
    'a.b': [tool('read')],
    other: [tool('read')],
  });
  const view = createViews({ clock: createManualClock() }, sourceOf(configuration, servers)).of(['dev']);
  const found = (reference: CallRequest['reference'], name = 'any text'): unknown => {
    const request = { ...plainRequest, name, reference };
    const { server, ownName, decision } = lookUp(view, request, taskIds) ?? lookUpDenied(view, request) ?? {};
    return server && [server, ownName, decision?.effect];
  };
  expect(found({ server: 'a', tool: 'b.read' })).toEqual(['a', 'b.read', 'allow']);
  expect(found({ server: 'a.b', tool: 'read' })).toEqual(['a.b', 'read', 'allow']);
  expect(found({ server: 'a', tool: 'secret' })).toEqual(['a', 'secret', 'deny']);
  expect(found({ server: 'other', tool: 'read' })).toEqual(['other', 'read', 'deny']);
  expect(found({ server: 'late', tool: 'secret' })).toEqual(['late', 'secret', 'deny']);
  expect(found({ server: 'a', tool: 'nothing' })).toBeUndefined();
  expect(found({ server: 'nowhere', tool: 'read' })).toBeUndefined();
  // An exact reference is not read as text, whatever stands in the name.
  expect(found({ server: 'a', tool: 'nothing' }, 'a_write')).toBeUndefined();
  expect(found('subject', 'a.b.read')).toEqual(['a.b', 'read', 'allow']);
  expect(found('subject', 'a_write')).toEqual(['a', 'write', 'allow']);
  expect(found('subject', 'a.secret')).toEqual(['a', 'secret', 'deny']);
  // Agents use exposed names alone.
  expect(found(undefined, 'a.write')).toBeUndefined();

  const owner = (reference: CallRequest['reference'], name = 'any text'): unknown => {
    const control = undiscoveredOwner(view, { ...plainRequest, name, reference }, taskIds);
    return typeof control === 'object' ? control.spec.name : control;
  };
  expect(owner({ server: 'late', tool: 'x' })).toBe('late');
  expect(owner({ server: 'a', tool: 'x' })).toBeUndefined();
  expect([owner('subject', 'late.x'), owner('subject', 'a.x'), owner('subject', 'x')]).toEqual([
    'late',
    undefined,
    'any',
  ]);
  expect(owner(undefined, 'x')).toBeUndefined();
});

test('a program names a prompt by its server too, and the exposed name comes first', () => {
  const prompts = { prompts: ['greet', 'leave'] };
  const { source } = stage(
    { servers: { a: {}, b: {} }, policy: { 'b.prompt:leave': 'deny' } },
    { a: prompts, b: prompts },
  );
  const view = createViews({ clock: createManualClock() }, source).of(['dev']);
  const found = (kind: 'prompt' | 'completion', name: string, reference?: 'subject'): unknown => {
    const request = { ...plainRequest, kind, name, reference };
    const { server, subjectName, decision } = lookUp(view, request, taskIds) ?? lookUpDenied(view, request) ?? {};
    return server && [server, subjectName, decision?.effect];
  };
  expect(found('prompt', 'b.greet', 'subject')).toEqual(['b', 'prompt:greet', 'allow']);
  expect(found('prompt', 'b_greet', 'subject')).toEqual(['b', 'prompt:greet', 'allow']);
  expect(found('completion', 'prompt:b.greet', 'subject')).toEqual(['b', 'prompt:greet', 'allow']);
  expect(found('prompt', 'b.leave', 'subject')).toEqual(['b', 'prompt:leave', 'deny']);
  expect([found('prompt', 'b.greet'), found('completion', 'prompt:b.greet')]).toEqual([undefined, undefined]);
});

function stage(draft: ConfigurationDraft, serverCatalogs: Readonly<Record<string, CatalogDraft>>) {
  const configuration = draftConfiguration(draft);
  const servers = handlesOf(configuration, {});
  for (const [name, server] of servers) server.catalog = catalogWith(serverCatalogs[name] ?? {});
  return { configuration, servers, source: sourceOf(configuration, servers) };
}
