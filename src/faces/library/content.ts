import { isJsonObject } from '../../base/index.ts';
import type { ResourceContents } from './agent-resource.ts';

/** One piece of content, as MCP defines it. Narrow it by `type`. */
export type ContentBlock = TextContent | ImageContent | AudioContent | LinkedResource | EmbeddedResource;

/** What a server sent: a content block, or something that is none by the protocol versions that are known here. */
export type ReceivedContent = ContentBlock | UnknownContent;

export interface TextContent extends ContentExtras {
  readonly type: 'text';
  readonly text: string;
}

export interface ImageContent extends ContentExtras {
  readonly type: 'image';
  /** In Base64. */
  readonly data: string;
  readonly mimeType: string;
}

export interface AudioContent extends ContentExtras {
  readonly type: 'audio';
  /** In Base64. */
  readonly data: string;
  readonly mimeType: string;
}

/** A resource that `readResource` can read. */
export interface LinkedResource extends ContentExtras {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
}

export interface EmbeddedResource extends ContentExtras {
  readonly type: 'resource';
  readonly resource: ResourceContents;
}

export interface UnknownContent {
  readonly type: 'unknown';
  /** Exactly as it was sent. */
  readonly value: unknown;
}

interface ContentExtras {
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export function receivedContents(contents: unknown): readonly ReceivedContent[] {
  return Array.isArray(contents) ? contents.map(receivedContent) : [];
}

export function receivedContent(value: unknown): ReceivedContent {
  return isContentBlock(value) ? value : { type: 'unknown', value };
}

/** The text blocks, joined by line breaks. */
export function joinedText(contents: readonly ReceivedContent[]): string {
  return contents.flatMap((content) => (content.type === 'text' ? [content.text] : [])).join('\n');
}

/** Checks the members that a program must be able to rely on; the optional ones are the server's own word. */
function isContentBlock(value: unknown): value is ContentBlock {
  if (!isJsonObject(value)) return false;
  switch (value.type) {
    case 'text':
      return typeof value.text === 'string';
    case 'image':
    case 'audio':
      return typeof value.data === 'string' && typeof value.mimeType === 'string';
    case 'resource_link':
      return typeof value.uri === 'string' && typeof value.name === 'string';
    case 'resource':
      return isJsonObject(value.resource) && typeof value.resource.uri === 'string';
    default:
      return false;
  }
}
