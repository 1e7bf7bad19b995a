import { Document, isCollection, isScalar, visit } from 'yaml';

/** A value that can be written to a configuration file. */
export type Plain = string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain };

/** `key: value` as unindented lines of YAML. Lists of scalars stay on one line. */
export function renderBlock(key: string, value: Plain, step: number): string[] {
  return renderYaml({ [key]: value }, step)
    .trimEnd()
    .split('\n');
}

export function renderYaml(value: Plain, step = 2): string {
  // No aliases: people read the file, so a repeated list is written out.
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Seq(_, list) {
      if (list.items.every((item) => isScalar(item))) list.flow = true;
    },
    Map(_, map) {
      if (map.items.length === 0 && isCollection(map)) map.flow = true;
    },
  });
  return document.toString({ indent: step, lineWidth: 0, flowCollectionPadding: false });
}

/** A value as JSON. With `indent`, objects span several lines with that indentation. */
export function renderJson(value: Plain, indent: string | undefined, unit: string, eol: string): string {
  if (isList(value)) return `[${value.map((item) => renderJson(item, undefined, unit, eol)).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return '{}';
  if (indent === undefined) {
    return `{ ${entries.map(([key, inner]) => `${JSON.stringify(key)}: ${renderJson(inner, indent, unit, eol)}`).join(', ')} }`;
  }
  const deeper = indent + unit;
  const lines = entries.map(
    ([key, inner]) => `${deeper}${JSON.stringify(key)}: ${renderJson(inner, deeper, unit, eol)}`,
  );
  return `{${eol}${lines.join(`,${eol}`)}${eol}${indent}}`;
}

function isList(value: Plain): value is readonly Plain[] {
  return Array.isArray(value);
}
