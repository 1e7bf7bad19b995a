import type { Catalog, Decision, TemplateDefinition } from '../domain/index.ts';
import type { AgentPolicy, UriTemplateForm } from '../governance/index.ts';
import { parseUriTemplate, type UriTemplate } from '../mcp/index.ts';

/** What one agent may read of one server. */
export interface Readings {
  /** On `resource:<uri>` and `prompt:<name>`, in the server's own words. */
  decide(subject: string): Decision;
  /** Those that a URI can be compared with. */
  readonly templates: readonly ReadTemplate[];
}

export interface ReadTemplate {
  readonly definition: TemplateDefinition;
  readonly form: UriTemplate;
}

/** Without a catalog nothing is listed, and every URI is the caller's own. */
export function readingsOf(policy: AgentPolicy, server: string, catalog: Catalog | undefined): Readings {
  let listed: ReadonlySet<string> | undefined;
  let templates: readonly ReadTemplate[] | undefined;
  let forms: readonly UriTemplateForm[] | undefined;

  function readTemplates(): readonly ReadTemplate[] {
    templates ??= (catalog?.templates ?? []).flatMap((definition) => {
      const form = parseUriTemplate(definition.uriTemplate);
      return form === undefined ? [] : [{ definition, form }];
    });
    return templates;
  }

  function formsOf(): readonly UriTemplateForm[] {
    forms ??= readTemplates().map(({ definition, form }) => ({
      text: definition.uriTemplate,
      fits: (uri) => form.match(uri) !== undefined,
    }));
    return forms;
  }

  return {
    decide(subject) {
      listed ??= listedIn(catalog);
      return policy.decideReading(server, subject, listed.has(subject) ? undefined : formsOf);
    },
    get templates() {
      return readTemplates();
    },
  };
}

function listedIn(catalog: Catalog | undefined): ReadonlySet<string> {
  const listed = new Set<string>();
  for (const { uri } of catalog?.resources ?? []) listed.add(`resource:${uri}`);
  for (const { uriTemplate } of catalog?.templates ?? []) listed.add(`resource:${uriTemplate}`);
  for (const { name } of catalog?.prompts ?? []) listed.add(`prompt:${name}`);
  return listed;
}
