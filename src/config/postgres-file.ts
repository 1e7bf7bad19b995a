import { child, entryOf, type SourceEntry, type SourceMap, type SourceNode, sourceMap } from './source-tree.ts';
import { textAt } from './texts.ts';

/**
 * A file of type `postgres` names no program, only the variable that holds the address of a database. It means what the
 * built-in server does, so that is what it is read as. Undefined: it does not say where the database is.
 */
export function asBuiltinPostgres(root: SourceMap): SourceMap | undefined {
  const variable = textAt(child(root, 'conn'), 'url_env');
  if (variable === undefined || !/^[A-Za-z_]\w*$/.test(variable)) return undefined;
  const { line } = entryOf(child(root, 'conn'), 'url_env') ?? root;
  const text = (value: string): SourceNode => ({ kind: 'scalar', line, value, text: value });
  const added: SourceEntry[] = [
    { key: 'builtin', line, value: text('pg-readonly') },
    { key: 'env', line, value: sourceMap(line, [{ key: 'PG_RO_URL', line, value: text(`\${${variable}}`) }]) },
  ];
  const kept = root.entries.filter(({ key }) => key !== 'type' && key !== 'conn');
  return sourceMap(root.line, [...kept, ...added]);
}
