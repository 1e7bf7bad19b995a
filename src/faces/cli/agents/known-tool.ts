import type { Hub } from '../../../hub/index.ts';
import { nameHint } from '../name-hint.ts';
import type { NamedTool } from './explain-question.ts';

/** Whether a server has a tool or prompt, as far as its lists are known. */
export type KnownToolFound =
  | { readonly kind: 'found' }
  | { readonly kind: 'missing'; readonly text: string }
  /** The server has not listed anything yet, or it is a resource, which need not be listed. */
  | { readonly kind: 'unknowable' };

export function findKnown(hub: Hub, { server, tool }: NamedTool): KnownToolFound {
  const catalog = hub.catalogs().get(server);
  if (catalog === undefined || tool.startsWith('resource:')) return { kind: 'unknowable' };
  const isPrompt = tool.startsWith('prompt:');
  const { tools, prompts, withheld } = catalog;
  const names = isPrompt
    ? [...prompts.map(({ name }) => name), ...(withheld?.prompt.keys() ?? [])].map((name) => `prompt:${name}`)
    : [...tools.map(({ name }) => name), ...(withheld?.tool.keys() ?? [])];
  if (names.includes(tool)) return { kind: 'found' };
  const what = isPrompt ? `prompt "${tool.slice('prompt:'.length)}"` : `tool "${tool}"`;
  const hint = nameHint(
    `${server}.${tool}`,
    names.map((name) => `${server}.${name}`),
    { some: 'It has', none: 'It has none.' },
  );
  return { kind: 'missing', text: `Server "${server}" has no ${what}. ${hint}` };
}
