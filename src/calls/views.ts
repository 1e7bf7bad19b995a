import type { Clock } from '../base/index.ts';
import { createPolicyCompiler } from '../governance/index.ts';
import type { UpstreamControl } from '../upstream/index.ts';
import { createFirstContact } from './first-contact.ts';
import { buildView, type View, type ViewSource } from './view.ts';

/** The views of all agents, built when first needed and rebuilt when something they rest on changed. */
export interface Views {
  of(chain: readonly string[]): View;
  /** Asks servers whose tools nobody knows yet, and waits for nothing. */
  discover(chain: readonly string[]): void;
  /** The same, and waits for their first answer: `waitMs` at most, and once per server. */
  settled(chain: readonly string[], waitMs?: number): Promise<View>;
  /** Waits for the first answer of the server that a call of that size names, or of any that may have it. */
  contacted(chain: readonly string[], owner: UpstreamControl | 'any', size: number): Promise<void>;
  /** Configuration or a catalog changed. */
  renew(source: ViewSource): void;
  onRenew(listener: () => void): () => void;
}

/** A view holds a whole list of tools; those of agents that are long gone make room. */
const maxViews = 512;

export function createViews(deps: { readonly clock: Clock }, first: ViewSource): Views {
  let source = first;
  let compiler = createPolicyCompiler(first.fleet);
  let views = new Map<string, View>();
  // The same caller comes with the same array, so most look-ups need no key.
  let byIdentity = new WeakMap<readonly string[], View>();
  const listeners = new Set<() => void>();
  const firstContact = createFirstContact(deps);
  nameAll(source);

  function of(chain: readonly string[]): View {
    let view = byIdentity.get(chain);
    if (view !== undefined) return view;
    const key = chain.join('\0');
    view = views.get(key) ?? build(key, chain);
    byIdentity.set(chain, view);
    return view;
  }

  function build(key: string, chain: readonly string[]): View {
    const view = buildView(source, compiler(chain), chain);
    for (const oldest of views.keys()) {
      if (views.size < maxViews) break;
      views.delete(oldest);
    }
    views.set(key, view);
    return view;
  }

  return {
    of,
    discover(chain) {
      firstContact.begin(of(chain).unseen);
    },
    async settled(chain, waitMs) {
      const { unseen } = of(chain);
      if (unseen.length > 0) await firstContact.wait(unseen, waitMs);
      return of(chain);
    },
    contacted: (chain, owner, size) => firstContact.waitForCall(of(chain).unseen, owner, size),
    renew(next) {
      if (next.fleet !== source.fleet) compiler = createPolicyCompiler(next.fleet);
      source = next;
      nameAll(source);
      views = new Map();
      byIdentity = new WeakMap();
      for (const listener of listeners) listener();
    },
    onRenew(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** In the order of the configuration, so that nobody's names depend on which agent asks first. */
function nameAll({ fleet, upstreams, names, promptNames, resourceNames }: ViewSource): void {
  resourceNames.adopt(fleet.servers.keys());
  for (const [server, { control }] of upstreams) {
    const { catalog } = control;
    if (catalog === undefined) continue;
    for (const { name } of catalog.tools) names.nameOf(server, name);
    for (const { name } of catalog.prompts) promptNames.nameOf(server, name);
    for (const { uri } of catalog.resources) resourceNames.nameOf(server, uri);
    for (const { uriTemplate } of catalog.templates) resourceNames.nameOf(server, uriTemplate);
  }
}
