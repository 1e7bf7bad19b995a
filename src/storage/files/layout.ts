import { join, resolve } from 'node:path';

/** Where the state of a file workspace lies; every path of it is built here. */
export interface WorkspaceLayout {
  readonly workspace: string;
  readonly folder: string;
  readonly gitignore: string;
  readonly tokens: string;
  readonly catalog: string;
  readonly names: string;
  readonly adminToken: string;
  readonly stateKey: string;
  readonly serve: string;
  readonly journal: string;
  readonly locks: string;
}

export function workspaceLayout(workspace: string): WorkspaceLayout {
  const root = resolve(workspace);
  const folder = join(root, '.quartermaster');
  return {
    workspace: root,
    folder,
    gitignore: join(folder, '.gitignore'),
    tokens: join(folder, 'tokens.json'),
    catalog: join(folder, 'catalog.json'),
    names: join(folder, 'names.json'),
    adminToken: join(folder, 'admin-token'),
    stateKey: join(folder, 'state-key'),
    serve: join(folder, 'serve.json'),
    journal: join(folder, 'journal'),
    locks: join(folder, 'lock'),
  };
}
