import type { BuiltinName } from '../../domain/index.ts';
import type { BuiltinUsage } from './builtin.ts';

/** How each is used. Light, for help texts; what they do is loaded when they are opened. */
export const usages: Readonly<Record<BuiltinName, BuiltinUsage>> = {
  git: {
    name: 'git',
    summary: 'looks at one Git repository: status, differences, history, blame, search',
    options: [
      { name: 'repository', value: 'DIR', purpose: 'top of the work tree, or a bare repository (default: here)' },
      { name: 'max-bytes', value: 'N', purpose: 'output per call (default: 262144)' },
      { name: 'timeout', value: 'SECONDS', purpose: 'time for one call (default: 60)' },
    ],
    variables: [],
  },
  fetch: {
    name: 'fetch',
    summary: 'reads pages of the web; inner networks are out of reach',
    options: [
      { name: 'allow', value: 'HOST[:PORT]', purpose: 'an inner host that may be read all the same', multiple: true },
      { name: 'max-bytes', value: 'N', purpose: 'how large a body may be, unpacked (default: 5242880)' },
      { name: 'timeout', value: 'SECONDS', purpose: 'time for one call, redirects included (default: 30)' },
      { name: 'max-redirects', value: 'N', purpose: 'redirects to follow (default: 5)' },
      { name: 'user-agent', value: 'TEXT', purpose: 'what it calls itself' },
    ],
    variables: [],
  },
  'pg-readonly': {
    name: 'pg-readonly',
    summary: 'reads a PostgreSQL database, and cannot write to it',
    options: [
      { name: 'max-rows', value: 'N', purpose: 'rows of one result (default: 1000)' },
      { name: 'timeout', value: 'SECONDS', purpose: 'time for one statement (default: 30)' },
      { name: 'pool', value: 'N', purpose: 'connections at once (default: 4)' },
      { name: 'allow-function', value: 'NAME', purpose: 'a volatile function that may be called', multiple: true },
    ],
    variables: [{ name: 'PG_RO_URL', required: true, purpose: 'the address of the database, postgres://…' }],
  },
};
