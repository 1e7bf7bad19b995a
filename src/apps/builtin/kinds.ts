import type { BuiltinName } from '../../domain/index.ts';
import type { BuiltinKind } from './builtin.ts';

/** Each is loaded when it is first wanted: a parser of SQL is nothing for somebody who reads a repository. */
export async function loadKind(name: BuiltinName): Promise<BuiltinKind> {
  switch (name) {
    case 'git':
      return (await import('./git/git.ts')).git;
    case 'fetch':
      return (await import('./fetch/fetch-pages.ts')).fetchPages;
    case 'pg-readonly':
      return (await import('./pg-readonly/pg-readonly.ts')).pgReadonly;
  }
}
