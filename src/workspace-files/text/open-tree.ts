import { openJson } from './json-tree.ts';
import { type Dialect, type OpenedTree, plainOf } from './text-tree.ts';
import { openToml } from './toml-tree.ts';
import { openYaml } from './yaml-tree.ts';

export function openTree(text: string, dialect: Dialect): OpenedTree {
  switch (dialect) {
    case 'yaml':
      return openYaml(text);
    case 'jsonc':
      return openJson(text);
    case 'toml':
      return openToml(text);
  }
}

/** The content of a text; undefined if it cannot be parsed. */
export function parseText(text: string, dialect: Dialect): unknown {
  const opened = openTree(text, dialect);
  return opened.kind === 'tree' ? plainOf(opened.tree.root) : undefined;
}
