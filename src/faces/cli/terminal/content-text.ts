import { isJsonObject } from '../../../base/index.ts';

/** A tool's result for people: text as it is, and a short description of other content. */
export function contentLines(result: Readonly<Record<string, unknown>>): string[] {
  const content = Array.isArray(result.content) ? result.content.filter(isJsonObject) : [];
  const lines = content.map(blockText);
  if (lines.length > 0 || result.structuredContent === undefined) return lines;
  return [JSON.stringify(result.structuredContent, undefined, 2)];
}

function blockText(block: Readonly<Record<string, unknown>>): string {
  const { type, text, data, mimeType, uri, resource } = block;
  if (type === 'text' && typeof text === 'string') return text;
  if (typeof data === 'string')
    return `[${String(type)} ${String(mimeType ?? '')}, ${Math.floor(data.length * 0.75)} bytes]`;
  if (type === 'resource_link') return `[resource ${String(uri ?? '')}]`;
  if (type === 'resource' && isJsonObject(resource)) {
    return typeof resource.text === 'string' ? resource.text : `[resource ${String(resource.uri ?? '')}]`;
  }
  return `[${String(type)}]`;
}
