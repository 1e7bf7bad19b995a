import { createHash, createHmac, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { Configuration, PlanFile, ServerPlan, ServerSpec, SourceRef } from '../domain/index.ts';
import { createBriefLists, policyRights, type RightsDocument, serverRights } from './rights.ts';

/** One thing that an operator approves: a server, or the policy. */
export type TrustItem = ServerItem | PolicyItem;

export interface ServerItem {
  readonly kind: 'server';
  readonly name: string;
  /** Identifies the item in this state folder. Says nothing about the values in it to anybody without the key. */
  readonly hash: string;
  readonly plan: ServerPlan;
  readonly spec: ServerSpec;
  readonly rights: RightsDocument;
}

export interface PolicyItem {
  readonly kind: 'policy';
  readonly hash: string;
  /** A file to look at first. The rules may come from several. */
  readonly file: string;
  readonly rights: RightsDocument;
}

/** An item in any version. */
export type ItemRef = { readonly kind: 'server'; readonly name: string } | { readonly kind: 'policy' };

export function identityOf(item: ItemRef): string {
  return item.kind === 'server' ? `server ${item.name}` : item.kind;
}

/** What a load of the configuration asks to be trusted with. */
export interface TrustSubject {
  readonly configuration: Configuration;
  readonly plans: ReadonlyMap<string, ServerPlan>;
}

/** Servers that would run, in the order of the configuration, and the policy. */
export function trustItems({ configuration, plans }: TrustSubject, key: Uint8Array): readonly TrustItem[] {
  const items: TrustItem[] = [];
  const brief = createBriefLists();
  for (const [name, plan] of plans) {
    const server = configuration.servers.get(name);
    if (server?.kind !== 'ready') continue;
    const rights = serverRights(server.spec, brief);
    const document = ['server', name, planDocument(plan, (value) => value), rights];
    items.push({ kind: 'server', name, hash: keyed(key, document), plan, spec: server.spec, rights });
  }
  const rights = policyRights(configuration);
  items.push({ kind: 'policy', hash: keyed(key, ['policy', rights]), file: policyFile(configuration), rights });
  return items;
}

/** Settings of the whole hub have no place of their own: then it is the first file. */
function policyFile({ policy, agents, files }: Configuration): string {
  const [agent] = agents.values();
  return policy?.source.file ?? agent?.source.file ?? files[0] ?? 'quartermaster.yaml';
}

/** Where the item is written. */
export function itemSource(item: TrustItem): SourceRef {
  return item.kind === 'server' ? item.spec.source : { file: item.file };
}

/**
 * Identifies what is on disk on every machine, to pin it in CI. It is not keyed, and people publish it; the values from
 * environment files are hashed slowly, so that they cannot be guessed from the digest. All of them at once, because a file
 * may have thousands.
 */
export async function trustDigest(items: readonly TrustItem[]): Promise<string> {
  const documents = items.map((item) =>
    item.kind === 'policy'
      ? ['policy', item.rights]
      : ['server', item.name, planDocument(item.plan, () => null), item.rights],
  );
  const values = items.flatMap((item) => (item.kind === 'server' ? valuesOf(item.plan).map(([, value]) => value) : []));
  const hidden = values.length === 0 ? '' : await slowHash(JSON.stringify(values));
  return `sha256:${createHash('sha256')
    .update(JSON.stringify([documents, hidden]))
    .digest('hex')}`;
}

export const digestPattern: RegExp = /^sha256:[0-9a-f]{64}$/;

function planDocument(plan: ServerPlan, hide: (value: string) => string | null): unknown {
  const { transports, files, reaches } = plan;
  return [
    transports.map(({ type, texts }) => [type, texts]),
    valuesOf(plan).map(([name, value]) => [name, hide(value)]),
    files.map(fileDocument),
    reaches,
  ];
}

function valuesOf({ values }: ServerPlan): readonly (readonly [string, string])[] {
  return [...values].sort(([left], [right]) => (left < right ? -1 : 1));
}

function fileDocument(file: PlanFile): unknown {
  switch (file.kind) {
    case 'file':
      return [file.path, file.sha256];
    case 'large':
      return [file.path, null];
    case 'link':
      return [file.path, 'link', file.target];
    case 'absent':
      return [file.path, 'absent'];
  }
}

function keyed(key: Uint8Array, document: unknown): string {
  return createHmac('sha256', key).update(JSON.stringify(document)).digest('hex');
}

const scryptAsync: (text: string, salt: string, bytes: number) => Promise<Buffer> = promisify(scrypt);

async function slowHash(text: string): Promise<string> {
  return (await scryptAsync(text, 'quartermaster trust digest', 32)).toString('hex');
}
