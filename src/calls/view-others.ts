import type { OperationKind, TaskKind } from '../domain/index.ts';
import type { AgentPolicy } from '../governance/index.ts';
import { type Found, offersOf, readable } from './offers.ts';
import type { ResultCaches } from './result-cache.ts';
import { createShelves, type Listed, type Shelves } from './shelves.ts';
import { otherTarget, type Target } from './target.ts';
import type { View, ViewSource } from './view.ts';

/** What an agent has besides tools. */
type Others = Pick<View, 'find' | 'canRead' | 'listed' | 'promptsText' | 'resourcesText' | 'templatesText'>;

type OtherKind = Exclude<OperationKind, 'tool' | TaskKind>;

/** How many targets of a kind are kept at hand; reading the same again then costs one look-up. */
const maxKept = 256;

/** Most agents only call tools, so nothing is computed before somebody asks. */
export function createOthers(source: ViewSource, policy: AgentPolicy, chain: readonly string[]): Others {
  const offers = offersOf(source.upstreams, policy);
  const shelves = lazily(() => createShelves(source, offers));
  const listed = {
    prompt: lazily(() => shelves().prompts()),
    resource: lazily(() => shelves().resources()),
    template: lazily(() => shelves().templates()),
  };
  const promptsText = lazily(() => listText(listed.prompt()));
  const resourcesText = lazily(() => listText(listed.resource()));
  const templatesText = lazily(() => listText(listed.template()));
  const kept: Readonly<Record<OtherKind, Map<string, Target>>> = {
    resource: new Map(),
    subscription: new Map(),
    prompt: new Map(),
    completion: new Map(),
  };
  return {
    find(kind, name) {
      const known = kept[kind].get(name);
      if (known !== undefined) return known;
      const target = targetOf(source.caches, shelves(), chain, kind, name);
      if (target !== undefined) keep(kept[kind], name, target);
      return target;
    },
    canRead(server, uri) {
      const offer = offers.find((each) => each.server === server);
      return offer !== undefined && readable(offer, 'resource', uri) !== undefined;
    },
    listed: (kind) => listed[kind](),
    get promptsText() {
      return promptsText();
    },
    get resourcesText() {
      return resourcesText();
    },
    get templatesText() {
      return templatesText();
    },
  };
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function listText(listed: readonly Listed[]): string {
  return `[${listed.map(({ text }) => text).join(',')}]`;
}

function keep(kept: Map<string, Target>, name: string, target: Target): void {
  for (const oldest of kept.keys()) {
    if (kept.size < maxKept) break;
    kept.delete(oldest);
  }
  kept.set(name, target);
}

function targetOf(
  caches: ResultCaches,
  shelves: Shelves,
  chain: readonly string[],
  kind: OtherKind,
  name: string,
): Target | undefined {
  const sought = seek(shelves, kind, name);
  if (sought === undefined) return undefined;
  const { found, subject, callHead, carries } = sought;
  const { server, handles } = found.offer;
  const { own, decision } = found;
  const facts = {
    kind,
    name,
    server,
    subjectName: `${subject}:${own}`,
    decision,
    dispatch: handles.dispatch,
    control: handles.control,
    ownName: own,
    callHead,
    carries,
    safeToRepeat: true,
    tasks: false,
    keeping: kind === 'resource' ? caches.of(server)?.forResource() : undefined,
  };
  // A URI may be the caller's own text, and one of a list may hold what its server was configured with.
  return otherTarget(chain, facts, subject === 'resource');
}

interface Sought extends Pick<Target, 'callHead' | 'carries'> {
  readonly found: Found;
  readonly subject: 'prompt' | 'resource';
}

function seek(shelves: Shelves, kind: OtherKind, name: string): Sought | undefined {
  switch (kind) {
    case 'prompt': {
      const found = shelves.findPrompt(name);
      const callHead = `"name":${JSON.stringify(found?.own)},"arguments":`;
      return found && { found, subject: 'prompt', callHead, carries: 'arguments' };
    }
    case 'resource':
      return resource(shelves.findResource(name));
    case 'subscription':
      return resource(able(shelves.findResource(name), 'subscriptions'));
    case 'completion':
      return completion(shelves, name);
  }
}

function resource(found: Found | undefined): Sought | undefined {
  return found && { found, subject: 'resource', callHead: `"uri":${JSON.stringify(found.own)}`, carries: 'nothing' };
}

/** `prompt:<name>`, or `resource:` with a template or a URI; what is hidden has no values to propose. */
function completion(shelves: Shelves, name: string): Sought | undefined {
  const text = name.slice(name.indexOf(':') + 1);
  if (name.startsWith('prompt:')) {
    const found = able(shelves.findPrompt(text), 'completions');
    const callHead = `"ref":{"type":"ref/prompt","name":${JSON.stringify(found?.own)}}`;
    return found && { found, subject: 'prompt', callHead, carries: 'members' };
  }
  if (!name.startsWith('resource:')) return undefined;
  const found = able(shelves.findTemplate(text) ?? shelves.findResource(text), 'completions');
  const callHead = `"ref":{"type":"ref/resource","uri":${JSON.stringify(found?.own)}}`;
  return found && { found, subject: 'resource', callHead, carries: 'members' };
}

function able(found: Found | undefined, ability: 'subscriptions' | 'completions'): Found | undefined {
  return found?.offer.catalog.abilities[ability] === true ? found : undefined;
}
