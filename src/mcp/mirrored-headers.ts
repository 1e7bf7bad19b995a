import { isJsonObject } from '../base/index.ts';
import type { MirroredArgument } from '../domain/index.ts';

/**
 * Modern HTTP requests repeat parts of the body in headers. A value that a header cannot carry as it is becomes
 * `=?base64?…?=`.
 */
export function encodeHeaderValue(value: string): string {
  const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?base64?');
  return plain ? value : encoded(Buffer.from(value, 'utf8'));
}

/** Base64 can spell the same text in several ways. Only the canonical one matches. */
export function headerValueMatches(header: string, expected: string): boolean {
  if (!header.startsWith('=?base64?') || !header.endsWith('?=')) return header === expected;
  const bytes = Buffer.from(expected, 'utf8');
  // A lone surrogate has no UTF-8 encoding, and its replacement character is a different text.
  return header === encoded(bytes) && bytes.toString('utf8') === expected;
}

function encoded(bytes: Buffer): string {
  return `=?base64?${bytes.toString('base64')}?=`;
}

/** The headers for the arguments marked with `x-mcp-header` in the tool's schema. */
export function mirroredArgumentHeaders(mirrored: readonly MirroredArgument[], args: unknown): [string, string][] {
  const headers: [string, string][] = [];
  for (const { header, path } of mirrored) {
    const value = path.reduce<unknown>((node, key) => (isJsonObject(node) ? node[key] : undefined), args);
    if (typeof value === 'string' || typeof value === 'boolean' || isExactNumber(value)) {
      headers.push([`Mcp-Param-${header}`, encodeHeaderValue(String(value))]);
    }
  }
  return headers;
}

/** For any other number, the header might differ from the body. */
function isExactNumber(value: unknown): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}

export type MirroredScan =
  | { readonly valid: true; readonly mirrored: readonly MirroredArgument[] }
  | { readonly valid: false; readonly reason: string };

/** Reads `x-mcp-header` marks. A tool with an invalid mark must not be listed over HTTP. */
export function scanMirroredArguments(inputSchema: unknown): MirroredScan {
  const mirrored: MirroredArgument[] = [];
  const names = new Set<string>();
  const fault = visit(inputSchema, [], true, 0);
  return fault === undefined ? { valid: true, mirrored } : { valid: false, reason: fault };

  function visit(node: unknown, path: readonly string[], reachable: boolean, depth: number): string | undefined {
    if (typeof node !== 'object' || node === null || depth > 64) return undefined;
    if (Array.isArray(node)) return firstFault(node, (item) => visit(item, path, false, depth + 1));
    if (!isJsonObject(node)) return undefined;
    const own = 'x-mcp-header' in node ? note(node, path, reachable) : undefined;
    if (own !== undefined) return own;
    return firstFault(Object.entries(node), ([keyword, child]) => {
      if (keyword === 'properties' && isJsonObject(child)) {
        return firstFault(Object.entries(child), ([name, schema]) =>
          visit(schema, [...path, name], reachable, depth + 1),
        );
      }
      if (dataKeywords.has(keyword)) return undefined;
      // The keys of such a map are names, not keywords.
      const schemas = mapKeywords.has(keyword) && isJsonObject(child) ? Object.values(child) : [child];
      return firstFault(schemas, (schema) => visit(schema, path, false, depth + 1));
    });
  }

  function note(node: Record<string, unknown>, path: readonly string[], reachable: boolean): string | undefined {
    const header = node['x-mcp-header'];
    const where = path.join('.') || 'the schema itself';
    if (!reachable || path.length === 0) return `${where}: x-mcp-header is only allowed on plain properties`;
    if (typeof header !== 'string' || !headerToken.test(header)) return `${where}: x-mcp-header is not a header name`;
    if (!mirrorableTypes.has(node.type)) return `${where}: x-mcp-header needs type string, integer or boolean`;
    if (names.has(header.toLowerCase())) return `${where}: x-mcp-header ${header} is used twice`;
    names.add(header.toLowerCase());
    mirrored.push({ header, path });
    return undefined;
  }
}

const headerToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const mirrorableTypes: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
/** Keywords whose values are data, not schemas. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples', 'required', 'x-mcp-header']);
/** Keywords whose values are maps of schemas by name. */
const mapKeywords: ReadonlySet<string> = new Set(['$defs', 'definitions', 'patternProperties', 'dependentSchemas']);

function firstFault<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const fault = find(item);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
