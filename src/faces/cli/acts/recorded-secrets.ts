import type { SecretBook } from '../../../vault/index.ts';
import type { CliContext } from '../context.ts';
import { openSecretBook } from '../servers/load-workspace.ts';
import { onRecord } from './operator-log.ts';

/** The secret store of the workspace. Each change is in the audit log before it takes effect, by name alone. */
export function openRecordedSecrets(cli: CliContext, workspace: string): SecretBook {
  const book = openSecretBook(cli, workspace);
  return {
    values: book.values,
    list: book.list,
    set: (name, value) =>
      onRecord(cli, workspace, [{ what: 'secret.set', subject: name }], () => book.set(name, value)),
    setAll: (values) => {
      const acts = [...values.keys()].map((subject) => ({ what: 'secret.set', subject }) as const);
      return onRecord(cli, workspace, acts, () => book.setAll(values));
    },
    async remove(name) {
      const { secrets } = await book.list();
      if (secrets.every((secret) => secret.name !== name)) return false;
      return await onRecord(cli, workspace, [{ what: 'secret.removed', subject: name }], () => book.remove(name));
    },
    rotate: (keyIn) =>
      onRecord(cli, workspace, [{ what: 'secret.key-changed', subject: 'all secrets' }], () => book.rotate(keyIn)),
  };
}
