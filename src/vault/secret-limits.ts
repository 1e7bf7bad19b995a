import { HubError } from '../base/index.ts';
import type { OpenedSecret } from './sealing.ts';

/** Larger than any token or certificate chain. */
export const maxSecretBytes = 64 * 1024;
const maxSecrets = 1000;
const maxTotalBytes = 8 * 1024 * 1024;

/** Covers variable names, and the ids of inputs that editors ask for. */
const namePattern = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;

/** Throws if no secret can have that name. The name may be a value that was given in its place, so it is not repeated. */
export function checkSecretName(name: string): void {
  if (namePattern.test(name)) return;
  throw new HubError('USAGE', 'This cannot be the name of a secret.', {
    hint: 'Use letters, digits, "_", "." and "-", starting with a letter or "_"; at most 128 characters.',
  });
}

export function checkSecretValue(name: string, value: string): void {
  if (value === '') throw new HubError('USAGE', `The value of ${name} is empty. Nothing was changed.`);
  if (Buffer.byteLength(value) > maxSecretBytes) throw secretTooLong(name);
  const why = flawOf(value);
  if (why !== undefined) throw new HubError('USAGE', `The value of ${name} ${why}. Nothing was changed.`);
}

/** A value that nothing could use as it was meant. */
function flawOf(value: string): string | undefined {
  if (value.includes('\0')) return 'contains a NUL character, which no program and no header can have';
  // U+FFFD is what decoders leave of bytes that are no text. Half of a surrogate pair becomes one when it is sealed.
  const isText = !value.includes('\ufffd') && Buffer.from(value).toString('utf8') === value;
  return isText ? undefined : 'is not UTF-8 text';
}

export function secretTooLong(name: string): HubError {
  return new HubError('USAGE', `The value of ${name} is over ${maxSecretBytes / 1024} KiB. Nothing was changed.`, {
    hint: 'Keep large data in a file, and store what protects it.',
  });
}

export function checkStoreSize(secrets: readonly OpenedSecret[]): readonly OpenedSecret[] {
  const total = secrets.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0);
  if (secrets.length <= maxSecrets && total <= maxTotalBytes) return secrets;
  throw new HubError('USAGE', `The store is full: ${maxSecrets} secrets or ${maxTotalBytes / 1024 / 1024} MiB.`, {
    hint: 'Remove secrets that `qm secret ls` shows as unused.',
  });
}
