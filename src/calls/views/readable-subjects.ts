import type { Catalog } from '../../domain/index.ts';
import type { UriTemplateForm } from '../../governance/index.ts';
import { parseUriTemplate, type UriTemplate } from '../../mcp/index.ts';

/** What is known of a server's URIs and prompts before any agent is looked at. Each part is computed on first use. */
export interface ReadableSubjects {
  /** Whether `resource:<uri or template>` or `prompt:<name>` is in a list. */
  isListed(subject: string): boolean;
  /** The templates that a URI can be compared with, as decisions see them. */
  readonly forms: readonly UriTemplateForm[];
  /** Those that begin with a scheme. */
  readonly plainTemplates: readonly UriTemplate[];
  /** Those that begin with a variable, and so match everything. */
  readonly openTemplates: readonly UriTemplate[];
  /** The schemes of resources and templates. */
  readonly schemes: ReadonlySet<string>;
}

export function readableSubjects(catalog: Catalog): ReadableSubjects {
  return new CatalogSubjects(catalog);
}

class CatalogSubjects implements ReadableSubjects {
  readonly #catalog: Catalog;
  #listed: ReadonlySet<string> | undefined;
  #templates: readonly ParsedTemplate[] | undefined;
  #forms: readonly UriTemplateForm[] | undefined;
  #plain: readonly UriTemplate[] | undefined;
  #open: readonly UriTemplate[] | undefined;
  #schemes: ReadonlySet<string> | undefined;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  isListed(subject: string): boolean {
    this.#listed ??= new Set(subjectsOf(this.#catalog));
    return this.#listed.has(subject);
  }

  get forms(): readonly UriTemplateForm[] {
    this.#forms ??= this.#parsed().map(({ text, template }) => ({
      text,
      fits: (uri, budget) => template.match(uri, budget) !== undefined,
    }));
    return this.#forms;
  }

  get plainTemplates(): readonly UriTemplate[] {
    this.#plain ??= this.#parsed().flatMap(({ template }) => (beginsWithScheme(template) ? [template] : []));
    return this.#plain;
  }

  get openTemplates(): readonly UriTemplate[] {
    this.#open ??= this.#parsed().flatMap(({ template }) => (beginsWithScheme(template) ? [] : [template]));
    return this.#open;
  }

  get schemes(): ReadonlySet<string> {
    this.#schemes ??= new Set(this.#uriStarts().flatMap((text) => schemeOf(text) ?? []));
    return this.#schemes;
  }

  #uriStarts(): string[] {
    const templates = this.#parsed().map(({ template }) => template.literalStart);
    return [...this.#catalog.resources.map(({ uri }) => uri), ...templates];
  }

  #parsed(): readonly ParsedTemplate[] {
    this.#templates ??= this.#catalog.templates.flatMap(({ uriTemplate: text }) => {
      const template = parseUriTemplate(text);
      return template === undefined ? [] : [{ text, template }];
    });
    return this.#templates;
  }
}

interface ParsedTemplate {
  readonly text: string;
  readonly template: UriTemplate;
}

function* subjectsOf({ resources, templates, prompts }: Catalog): Iterable<string> {
  for (const { uri } of resources) yield `resource:${uri}`;
  for (const { uriTemplate } of templates) yield `resource:${uriTemplate}`;
  for (const { name } of prompts) yield `prompt:${name}`;
}

function beginsWithScheme({ literalStart }: UriTemplate): boolean {
  return literalStart.includes(':');
}

export function schemeOf(uri: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*(?=:)/i.exec(uri)?.[0].toLowerCase();
}
