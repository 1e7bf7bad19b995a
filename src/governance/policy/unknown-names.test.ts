import { expect, test } from 'vitest';
import { draftConfiguration } from './configuration.fixture.ts';
import { unknownNames } from './unknown-names.ts';

const known = new Map([['files', [{ name: 'read' }, { name: 'write', exposedName: 'files_wr_1a2b' }]]]);

test('names that a known server has are fine in every spelling', () => {
  const configuration = draftConfiguration({
    servers: {
      files: {
        tools: { include: ['read', 'files_read', 'files.write', 'files_wr_1a2b', 'wr*', '*'], exclude: ['*ead'] },
      },
    },
    policy: {
      'files.read': 'allow',
      'files.*': 'deny',
      'files.w*': 'deny',
      '*delete*': 'deny',
      'files.resource:file:///etc': 'deny',
      'files.prompt:*': 'deny',
    },
  });
  expect(unknownNames(configuration, known)).toEqual([]);
});

test('a cache names the tools of its server by their own names', () => {
  const cache = { ttlMs: 1, maxBytes: 1, tools: ['read', 'reed', 'files_wr_1a2b'], resources: true };
  const configuration = draftConfiguration({ servers: { files: { cache }, unseen: { cache } } });
  expect(unknownNames(configuration, known).map(({ message, server }) => [server, message])).toEqual([
    ['files', 'The cache of server files names "reed", which server files does not have.'],
    ['files', 'The cache of server files names "files_wr_1a2b", which server files does not have.'],
  ]);
});

test('a prompt can be looked for, while a resource need not be in any list', () => {
  const offered = new Map([['files', [{ name: 'read' }, { name: 'prompt:greet' }, { name: 'resource:file:///a' }]]]);
  const configuration = draftConfiguration({
    servers: {
      files: {
        tools: {
          include: [
            'read',
            'prompt:greet',
            'files.prompt:great',
            'resource:file:///a',
            'resource:file:///b/*',
            'prompt:x*',
          ],
        },
      },
    },
    policy: { 'files.prompt:greet': 'deny', 'files.prompt:great': 'deny', 'files.resource:file:///b': 'deny' },
  });
  expect(unknownNames(configuration, offered).map(({ message }) => message)).toEqual([
    'The include list of server files names "files.prompt:great", which server files does not have.',
    'A rule names "files.prompt:great", which server files does not have.',
  ]);
});

test('says whose list holds a name the server does not have', () => {
  const configuration = draftConfiguration({
    servers: { files: { tools: { include: ['raed'] } } },
    agents: { tester: { tools: { files: { exclude: ['delete_*'] } } } },
  });
  expect(unknownNames(configuration, known)).toEqual([
    {
      severity: 'warning',
      file: 'files.json',
      line: 3,
      server: 'files',
      message: 'The include list of server files names "raed", which server files does not have.',
      fix: 'Did you mean "read"?',
    },
    expect.objectContaining({
      file: 'agents.yaml',
      line: 7,
      message: 'The exclude list of agent tester names "delete_*", which server files does not have.',
      fix: 'Run `qm inspect files` to see its tools.',
    }),
  ]);
});

test('says which rule names nothing, with its line', () => {
  const configuration = draftConfiguration({
    servers: { files: {} },
    policy: { 'files.read': 'allow', 'files.remove': 'deny', 'file.read': 'deny', 'files.rem*': 'deny' },
    agents: { tester: { policy: { 'files.wriet': 'require-approval' } } },
  });
  expect(unknownNames(configuration, known).at(-1)?.fix).toBe('Did you mean "files.write"?');
  expect(unknownNames(configuration, known).map(({ file, line, message }) => [`${file}:${line}`, message])).toEqual([
    ['quartermaster.yaml:2', 'A rule names "files.remove", which server files does not have.'],
    ['quartermaster.yaml:4', 'A rule names "files.rem*", which server files does not have.'],
    ['agents.yaml:1', 'A rule of agent tester names "files.wriet", which server files does not have.'],
  ]);
});

test('says nothing of servers that were not asked yet', () => {
  const configuration = draftConfiguration({
    servers: { git: { tools: { include: ['anything'] } } },
    policy: { 'git.anything': 'deny', 'git.any*': 'deny' },
  });
  expect(unknownNames(configuration, known)).toEqual([]);
});

test('warns of a name that fits two tools', () => {
  const configuration = draftConfiguration({ servers: { files: { tools: { include: ['files_read'] } } } });
  const tools = new Map([['files', [{ name: 'read' }, { name: 'files_read' }]]]);
  expect(unknownNames(configuration, tools).map((problem) => problem.message)).toEqual([
    'The include list of server files names "files_read", which fits 2 tools of server files; all are meant.',
  ]);
});

test('says once whose role holds a wrong name, however many have that role', () => {
  const configuration = draftConfiguration({
    servers: { files: {} },
    agents: {
      lead: { tools: { files: { include: ['raed'] } }, policy: { 'files.wriet': 'deny' } },
      danny: { tools: { files: { exclude: ['remove'] } } },
    },
    roles: { danny: 'lead', rusty: 'lead' },
  });
  expect(unknownNames(configuration, known).map(({ message }) => message)).toEqual([
    'The include list of role lead names "raed", which server files does not have.',
    'The exclude list of agent danny names "remove", which server files does not have.',
    'A rule of role lead names "files.wriet", which server files does not have.',
  ]);
});

test('warns of a rule whose name fits tools of two servers', () => {
  const configuration = draftConfiguration({
    servers: { a: {}, 'a.b': { enabled: false }, c: {} },
    policy: { 'a.b.c': 'deny', 'a.b.*': 'deny', 'c.d': 'deny' },
    agents: { dev: { policy: { 'a.b.d': 'allow' } } },
  });
  expect(unknownNames(configuration, new Map()).map(({ message, file, line }) => [message, file, line])).toEqual([
    [
      'A rule names "a.b.c", which can mean tool c of server a.b or tool b.c of server a. It applies to all of them.',
      'quartermaster.yaml',
      1,
    ],
    [
      'A rule names "a.b.d", which can mean tool d of server a.b or tool b.d of server a. It allows none of them.',
      'agents.yaml',
      1,
    ],
  ]);
});
