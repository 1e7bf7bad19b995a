import type { BuiltinName } from '../../domain/index.ts';
import type { BuiltinKind } from './builtin-kind.ts';

/** Loads each on first use: a repository reader needs no SQL parser. */
export async function loadBuiltin(name: BuiltinName): Promise<BuiltinKind> {
  switch (name) {
    case 'git':
      return (await import('./git/git.ts')).git;
    case 'fetch':
      return (await import('./fetch/fetch-pages.ts')).fetchPages;
    case 'pg-readonly':
      return (await import('./pg-readonly/pg-readonly.ts')).pgReadonly;
  }
}
