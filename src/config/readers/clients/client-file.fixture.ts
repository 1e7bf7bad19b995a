import type { Configuration } from '../../../domain/index.ts';
import { load } from '../../workspace.fixture.ts';

type Texts = Readonly<Record<string, string>>;

/** Loads a workspace with one client's file. `content` is written as JSON unless it is text already. */
export function loadClient(
  file: string,
  content: unknown,
  env: Texts = {},
  { others = {}, stored = {} }: { readonly others?: Texts | undefined; readonly stored?: Texts | undefined } = {},
): Promise<Configuration> {
  const text = typeof content === 'string' ? content : JSON.stringify(content, undefined, 2);
  return load({ [file]: text, ...others }, env, stored);
}
