import { isDeepStrictEqual } from 'node:util';
import type { Catalog } from '../../domain/index.ts';
import { createListedUris } from '../../governance/index.ts';
import { rewriteReferences } from '../../mcp/index.ts';
import { exposedText } from './exposed-text.ts';
import type { SharedReads } from './read-access.ts';
import { readableSubjects } from './readable-subjects.ts';
import { entryIn, renewList, type SharedEntry, type SharedList, textDigest } from './shared-list.ts';
import type { ListedKind } from './view.ts';

/** One resource, template or prompt under its exposed name or URI, with its list text ready. All agents share it. */
export class SharedDefinition implements SharedEntry {
  readonly own: string;
  readonly name: string;
  /** As the server wrote it, to recognise a change. */
  readonly ownText: string;
  readonly text: string;
  /** A decision depends on the names alone. */
  readonly fingerprint = '';
  #digest: number | undefined;

  constructor({ own, text }: OwnDefinition, name: string, member: Member, ownedBy: (uri: string) => string) {
    this.own = own;
    this.name = name;
    this.ownText = text;
    this.text = rewriteReferences(exposedText(text, member, own, name), ownedBy);
  }

  get digest(): number {
    this.#digest ??= textDigest(this.text);
    return this.#digest;
  }
}

/** The resources, templates and prompts of one server at one time, for all agents. Immutable. */
export interface ServerResources {
  readonly lists: Readonly<Record<ListedKind, SharedList<SharedDefinition>>>;
  readonly catalog: Catalog;
  /** For decisions of all agents. */
  readonly reads: SharedReads;
}

export interface ServerResourcesFacts {
  readonly server: string;
  readonly catalog: Catalog;
  /** The exposed name of a prompt. */
  readonly promptName: (own: string) => string;
  /** The exposed URI of a resource or template. */
  readonly resourceName: (own: string) => string;
  readonly ownedBy: (uri: string) => string;
  readonly nextRevision: () => number;
}

/** Returns the earlier one if nothing changed that an agent could notice. */
export function renewServerResources(
  facts: ServerResourcesFacts,
  earlier: ServerResources | undefined,
): ServerResources {
  const { catalog } = facts;
  const lists = {
    resource: renewed(facts, 'resource', catalog.resources.map(ownResource), earlier),
    template: renewed(facts, 'template', catalog.templates.map(ownTemplate), earlier),
    prompt: renewed(facts, 'prompt', catalog.prompts.map(ownPrompt), earlier),
  };
  const isSame =
    earlier !== undefined &&
    kinds.every((kind) => earlier.lists[kind] === lists[kind]) &&
    isDeepStrictEqual(earlier.catalog.abilities, catalog.abilities);
  if (isSame) return earlier;
  const hasSameNames = earlier !== undefined && isSameList(ownNames(earlier.catalog), ownNames(catalog));
  return { lists, catalog, reads: hasSameNames ? earlier.reads : readsOf(catalog) };
}

/** Apart from the facts of the renewal: what is computed later must not keep them, or no revision would be freed. */
function readsOf(catalog: Catalog): SharedReads {
  return { listedUris: createListedUris(() => urisOf(catalog)), subjects: readableSubjects(catalog) };
}

function ownNames({ resources, templates, prompts }: Catalog): readonly string[] {
  return [
    ...resources.map(({ uri }) => `resource:${uri}`),
    ...templates.map(({ uriTemplate }) => `template:${uriTemplate}`),
    ...prompts.map(({ name }) => `prompt:${name}`),
  ];
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}

function* urisOf({ resources, templates }: Catalog): Iterable<string> {
  for (const { uri } of resources) yield uri;
  for (const { uriTemplate } of templates) yield uriTemplate;
}

const kinds = ['resource', 'template', 'prompt'] as const;

interface OwnDefinition {
  readonly own: string;
  readonly text: string;
}

type Member = Parameters<typeof exposedText>[1];

const members: Readonly<Record<ListedKind, Member>> = { resource: 'uri', template: 'uriTemplate', prompt: 'name' };

function ownResource({ uri, text }: Catalog['resources'][number]): OwnDefinition {
  return { own: uri, text };
}

function ownTemplate({ uriTemplate, text }: Catalog['templates'][number]): OwnDefinition {
  return { own: uriTemplate, text };
}

function ownPrompt({ name, text }: Catalog['prompts'][number]): OwnDefinition {
  return { own: name, text };
}

function renewed(
  { server, promptName, resourceName, ownedBy, nextRevision }: ServerResourcesFacts,
  kind: ListedKind,
  definitions: readonly OwnDefinition[],
  earlier: ServerResources | undefined,
): SharedList<SharedDefinition> {
  const known = earlier?.lists[kind];
  const nameOf = kind === 'prompt' ? promptName : resourceName;
  // A server may list the same twice.
  const entries = new Map<string, SharedDefinition>();
  for (const definition of definitions) {
    const { own, text } = definition;
    const name = nameOf(own);
    const same = entryIn(known, own);
    const isSame = same?.name === name && same.ownText === text;
    entries.set(own, isSame ? same : new SharedDefinition(definition, name, members[kind], ownedBy));
  }
  return renewList(server, [...entries.values()], nextRevision, known);
}
