import type { Configuration } from '../../../domain/index.ts';
import { load, ready } from '../../workspace.fixture.ts';

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

/** The patterns that deny tools of a server by the rules of a client's file, each after its prefix. */
export function deniedTools(configuration: Configuration, server: string): readonly string[] {
  return ready(configuration, server).restrictedBy.flatMap(({ rules }) =>
    (rules?.rules ?? []).flatMap(({ pattern, effect }) => {
      const isOwn = effect === 'deny' && pattern.startsWith(rules?.prefix ?? '');
      return isOwn ? [pattern.slice(rules?.prefix.length)] : [];
    }),
  );
}
