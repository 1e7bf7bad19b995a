import type { Fleet } from '../../domain/index.ts';
import { load } from '../workspace.fixture.ts';

/** A workspace with one client's file, written as JSON unless it is text already. */
export function loadClient(
  file: string,
  content: unknown,
  env: Readonly<Record<string, string>> = {},
  others: Readonly<Record<string, string>> = {},
): Promise<Fleet> {
  const text = typeof content === 'string' ? content : JSON.stringify(content, undefined, 2);
  return load({ [file]: text, ...others }, env);
}
