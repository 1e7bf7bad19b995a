import { openJson } from './json-tree.ts';
import type { Dialect, OpenedTree } from './text-tree.ts';
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
