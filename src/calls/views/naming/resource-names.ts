import { createWorkBudget, type WorkBudget } from '../../../base/index.ts';
import { maxDecisionWork } from '../../../governance/index.ts';
import { hasScopedScheme, readScopedUri, scopeUri, type UriTemplate } from '../../../mcp/index.ts';
import { createServerLabels } from './server-labels.ts';

/**
 * The URIs under which agents see resources and templates. A URI usually stays as its server wrote it. If a server that
 * is configured earlier has it too, or if it looks like a URI of another server, agents see the long form
 * `{server}+{uri}`. URIs of `ui://` and `skill://` always have the namespace of their server: `ui://{server}/…`. Names
 * are assigned in configuration order and are valid for one set of catalogs.
 */
export interface ResourceNames {
  /** The configured servers in order. URIs of other servers must not look like theirs. */
  adopt(servers: Iterable<string>): void;
  /** Claims a template: matching URIs of later servers get the long form. */
  claim(server: string, form: ResourceForm): void;
  /** By the server's own URI or template. */
  nameOf(server: string, own: string): string;
  /** A form that leads to this server, even if another one has the URI. */
  ownedBy(server: string, own: string): string;
  /** The server's unique name in URIs: small letters, digits, dots and hyphens. */
  namespaceOf(server: string): string;
  /** The meaning of a long or namespaced form. Undefined for any other URI. */
  readLong(uri: string): { readonly server: string; readonly own: string } | undefined;
}

/** A template that begins with a variable matches everything, so it claims nothing. */
type ResourceForm = Pick<UriTemplate, 'literalStart' | 'match'>;

export function createResourceNames(): ResourceNames {
  const holders = new Map<string, string>();
  /** All templates of a server share a budget, so that no server slows down the naming of others. */
  const claims: { readonly server: string; readonly form: ResourceForm; readonly budget: WorkBudget }[] = [];
  const namespaces = createServerLabels();

  function readLong(uri: string): { readonly server: string; readonly own: string } | undefined {
    const scoped = readScopedUri(uri);
    const plus = uri.indexOf('+');
    // No namespace has a plus. Clients may change the case of a scheme.
    const namespace = scoped?.namespace ?? uri.slice(0, Math.max(0, plus)).toLowerCase();
    const server = namespaces.serverOf(namespace);
    return server === undefined ? undefined : { server, own: scoped?.own ?? uri.slice(plus + 1) };
  }

  function ownedBy(server: string, own: string): string {
    const namespace = namespaces.of(server);
    return scopeUri(namespace, own) ?? `${namespace}+${own}`;
  }

  function holds(server: string, own: string): boolean {
    const holder = holders.get(own) ?? claimant(own) ?? server;
    holders.set(own, holder);
    return holder === server;
  }

  function claimant(own: string): string | undefined {
    return claims.find(({ form, budget }) => own.startsWith(form.literalStart) && form.match(own, budget) !== undefined)
      ?.server;
  }

  return {
    claim(server, form) {
      if (!form.literalStart.includes(':')) return;
      const budget = claims.find((known) => known.server === server)?.budget ?? createWorkBudget(maxDecisionWork);
      claims.push({ server, form, budget });
    },
    adopt(configured) {
      for (const server of configured) namespaces.of(server);
    },
    nameOf(server, own) {
      if (hasScopedScheme(own)) return ownedBy(server, own);
      return readLong(own) === undefined && holds(server, own) ? own : ownedBy(server, own);
    },
    ownedBy,
    namespaceOf: (server) => namespaces.of(server),
    readLong,
  };
}
