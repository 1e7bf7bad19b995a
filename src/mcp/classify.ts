import { HubError, isJsonObject } from '../base/index.ts';
import { type Era, isModernVersion, metaKeys, modernVersions } from './eras.ts';
import type { Message, Params } from './message.ts';
import { headerValueMatches } from './mirrored-headers.ts';

/** The request headers that take part in the decision, as they came. */
export interface MirroredHeaders {
  readonly protocolVersion: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
}

/**
 * Which era one posted message belongs to. The body decides; headers are only compared with it, so
 * that a proxy that drops a header cannot change the meaning of a message. Throws HubError for a
 * message that claims the modern era and breaks its rules.
 */
export function classify(message: Message, headers: MirroredHeaders): Era {
  if (message.kind === 'response' || message.kind === 'invalid') return 'legacy';
  const header = headers.protocolVersion?.trim();
  const headerIsModern = header !== undefined && isModernVersion(header);
  const claim = claimOf(message.params);
  if (message.kind === 'notification') return classifyNotification(claim, header, headerIsModern);
  if (message.method === 'initialize' && !isValidModernClaim(message.params)) {
    if (headerIsModern) throw mismatch('an initialize request came with a modern MCP-Protocol-Version header');
    return 'legacy';
  }
  if (claim === undefined) {
    if (!headerIsModern) return 'legacy';
    throw new HubError('INVALID_PARAMS', `Params._meta lacks ${metaKeys.protocolVersion}, which the header promises.`);
  }
  checkEnvelope(message.params);
  if (header !== undefined && header !== claim) {
    throw mismatch(`the body says protocol version ${String(claim)}, the MCP-Protocol-Version header ${header}`);
  }
  const methodHeader = headers.method?.trim();
  if (methodHeader !== undefined && methodHeader !== message.method) {
    throw mismatch(`the body says method ${message.method}, the Mcp-Method header ${methodHeader}`);
  }
  if (!modernVersions.includes(claim as string)) throw unsupported(claim as string); // checkEnvelope saw a string
  return 'modern';
}

/** The headers that a modern HTTP request must carry; call after `classify` said modern. */
export function checkMirroredHeaders(message: Message & { kind: 'request' }, headers: MirroredHeaders): void {
  if (headers.protocolVersion === undefined) throw mismatch('the MCP-Protocol-Version header is missing');
  if (headers.method === undefined) throw mismatch('the Mcp-Method header is missing');
  const source = nameSource(message);
  if (source === undefined) return;
  if (headers.name === undefined) throw mismatch('the Mcp-Name header is missing');
  if (!headerValueMatches(headers.name.trim(), source)) throw mismatch('the Mcp-Name header differs from the body');
}

/** The envelope of a modern message; throws when it is not one (for transports without headers). */
export function checkEnvelope(params: Params): void {
  const meta = metaOf(params) ?? {};
  if (typeof meta[metaKeys.protocolVersion] !== 'string') throw badEnvelope(metaKeys.protocolVersion, 'a string');
  if (!isJsonObject(meta[metaKeys.clientCapabilities])) throw badEnvelope(metaKeys.clientCapabilities, 'an object');
  const info = meta[metaKeys.clientInfo];
  if (
    info !== undefined &&
    !(isJsonObject(info) && typeof info.name === 'string' && typeof info.version === 'string')
  ) {
    throw badEnvelope(metaKeys.clientInfo, 'an object with name and version');
  }
}

export function metaOf(params: Params): Readonly<Record<string, unknown>> | undefined {
  const meta = params._meta;
  return isJsonObject(meta) ? meta : undefined;
}

/** Progress is wanted for this request, under this token. */
export function progressTokenOf(params: Params): string | number | undefined {
  const token = metaOf(params)?.progressToken;
  return typeof token === 'string' || Number.isInteger(token) ? (token as string | number) : undefined; // narrowed by the test
}

export function unsupported(requested: string): HubError {
  return new HubError('UNSUPPORTED_VERSION', `Protocol version ${requested} is not supported.`, {
    details: { supported: modernVersions, requested },
  });
}

function classifyNotification(claim: unknown, header: string | undefined, headerIsModern: boolean): Era {
  if (claim === undefined) return headerIsModern ? 'modern' : 'legacy';
  if (typeof claim !== 'string') throw badEnvelope(metaKeys.protocolVersion, 'a string');
  if (header !== undefined && header !== claim) {
    throw mismatch(`the body says protocol version ${claim}, the MCP-Protocol-Version header ${header}`);
  }
  return isModernVersion(claim) ? 'modern' : 'legacy';
}

function claimOf(params: Params): unknown {
  return metaOf(params)?.[metaKeys.protocolVersion];
}

function isValidModernClaim(params: Params): boolean {
  const claim = claimOf(params);
  if (typeof claim !== 'string' || !isModernVersion(claim)) return false;
  return isJsonObject(metaOf(params)?.[metaKeys.clientCapabilities]);
}

function nameSource(message: Message & { kind: 'request' }): string | undefined {
  const field = message.method === 'resources/read' ? 'uri' : namedMethods.has(message.method) ? 'name' : undefined;
  const value = field && message.params[field];
  return typeof value === 'string' ? value : undefined;
}

const namedMethods: ReadonlySet<string> = new Set(['tools/call', 'prompts/get']);

function mismatch(what: string): HubError {
  return new HubError('HEADER_MISMATCH', `Header mismatch: ${what}.`);
}

function badEnvelope(key: string, expected: string): HubError {
  return new HubError('INVALID_PARAMS', `Params._meta["${key}"] must be ${expected}.`);
}
