import { child, entryOf, type SourceEntry, type SourceMap, type SourceNode, sourceMap } from '../files/source-tree.ts';
import { textAt } from '../texts.ts';

/**
 * A file of type `postgres` names no program, only the variable with the database URL. It is read as the built-in
 * server, which does the same. Undefined if the file does not name the variable.
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
