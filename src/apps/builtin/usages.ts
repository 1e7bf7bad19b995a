import type { BuiltinName } from '../../domain/index.ts';
import type { BuiltinUsage } from './builtin-kind.ts';

/** The usage of each built-in. Light, for help texts; the implementation loads when a server is opened. */
export const usages: Readonly<Record<BuiltinName, BuiltinUsage>> = {
  git: {
    name: 'git',
    summary: 'read one Git repository: status, diff, log, blame, search',
    options: [
      {
        name: 'repository',
        value: 'DIR',
        purpose: 'top of the work tree, or a bare repository (default: current folder)',
      },
      { name: 'max-bytes', value: 'N', purpose: 'output per call (default: 262144)' },
      { name: 'timeout', value: 'SECONDS', purpose: 'time for one call (default: 60)' },
    ],
    variables: [],
  },
  fetch: {
    name: 'fetch',
    summary: 'read web pages; private networks are blocked',
    options: [
      { name: 'allow', value: 'HOST[:PORT]', purpose: 'a private host to allow', multiple: true },
      { name: 'max-bytes', value: 'N', purpose: 'maximum size of a body, uncompressed (default: 5242880)' },
      { name: 'timeout', value: 'SECONDS', purpose: 'time for one call, redirects included (default: 30)' },
      { name: 'max-redirects', value: 'N', purpose: 'redirects to follow (default: 5)' },
      { name: 'user-agent', value: 'TEXT', purpose: 'User-Agent header' },
    ],
    variables: [],
  },
  'pg-readonly': {
    name: 'pg-readonly',
    summary: 'read a PostgreSQL database; writing is impossible',
    options: [
      { name: 'max-rows', value: 'N', purpose: 'maximum rows of a result (default: 1000)' },
      { name: 'timeout', value: 'SECONDS', purpose: 'time for one statement (default: 30)' },
      { name: 'pool', value: 'N', purpose: 'connections at once (default: 4)' },
      { name: 'allow-function', value: 'NAME', purpose: 'a volatile function to allow', multiple: true },
    ],
    variables: [{ name: 'PG_RO_URL', required: true, purpose: 'the connection string of the database, postgres://…' }],
  },
};
