import { HubError, isJsonObject } from '../base/index.ts';
import { type Era, isModernVersion, metaKeys, modernVersions } from './eras.ts';
import type { Message, Params } from './message.ts';
import { headerValueMatches } from './mirrored-headers.ts';

/** The request headers used for classification, as Node parses them: without surrounding white space. */
export interface MirroredHeaders {
  readonly protocolVersion: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
}

/**
 * Determines the era of a posted message. The body decides. Headers are only compared with it, so a proxy that drops a
 * header cannot change the meaning of a message. The one exception is a notification that claims no version: its header
 * decides. Throws HubError for a message that claims the modern era and breaks its rules.
 */
export function classify(message: Message, headers: MirroredHeaders): Era {
  if (message.kind === 'response' || message.kind === 'invalid') return 'legacy';
  const { kind, method, params } = message;
  const header = headers.protocolVersion;
  const headerIsModern = header !== undefined && isModernVersion(header);
  const claim = claimOf(params);
  if (kind === 'request' && method === 'initialize' && !isValidModernClaim(params)) {
    if (headerIsModern) throw mismatch('an initialize request came with a modern MCP-Protocol-Version header');
    return 'legacy';
  }
  if (claim === undefined) {
    if (!headerIsModern) return 'legacy';
    if (kind === 'notification') return modern(header, method, headers);
    throw new HubError('INVALID_PARAMS', `Params._meta lacks ${metaKeys.protocolVersion}, which the header promises.`);
  }
  const fault = kind === 'request' ? envelopeFault(params) : versionFault(claim);
  if (fault !== undefined) throw fault;
  return modern(claim as string, method, headers); // a string: neither check found a fault
}

/** Checks the headers that a modern HTTP request must carry. Call it after `classify` returns `modern`. */
export function checkMirroredHeaders(message: Message & { kind: 'request' }, headers: MirroredHeaders): void {
  if (headers.protocolVersion === undefined) throw mismatch('the MCP-Protocol-Version header is missing');
  if (headers.method === undefined) throw mismatch('the Mcp-Method header is missing');
  const source = nameSource(message);
  if (source === undefined) return;
  if (headers.name === undefined) throw mismatch('the Mcp-Name header is missing');
  if (!headerValueMatches(headers.name, source)) throw mismatch('the Mcp-Name header differs from the body');
}

export function metaOf(params: Params): Readonly<Record<string, unknown>> | undefined {
  const meta = params._meta;
  return isJsonObject(meta) ? meta : undefined;
}

/** The progress token, if the request asks for progress. */
export function progressTokenOf(params: Params): string | number | undefined {
  const token = metaOf(params)?.progressToken;
  // narrowed by the test
  return typeof token === 'string' || Number.isInteger(token) ? (token as string | number) : undefined;
}

function modern(version: string, method: string, headers: MirroredHeaders): Era {
  const { protocolVersion, method: methodHeader } = headers;
  if (protocolVersion !== undefined && protocolVersion !== version) {
    throw mismatch(
      `the body says protocol version ${clip(version)}, the MCP-Protocol-Version header ${protocolVersion}`,
    );
  }
  if (methodHeader !== undefined && methodHeader !== method) {
    throw mismatch(`the body says method ${clip(method)}, the Mcp-Method header ${methodHeader}`);
  }
  if (!modernVersions.includes(version)) throw unsupported(clip(version));
  return 'modern';
}

function claimOf(params: Params): unknown {
  return metaOf(params)?.[metaKeys.protocolVersion];
}

/** Only a valid modern claim makes `initialize` anything but the legacy handshake. */
function isValidModernClaim(params: Params): boolean {
  const claim = claimOf(params);
  return typeof claim === 'string' && isModernVersion(claim) && envelopeFault(params) === undefined;
}

function envelopeFault(params: Params): HubError | undefined {
  const meta = metaOf(params) ?? {};
  const fault = versionFault(meta[metaKeys.protocolVersion]);
  if (fault !== undefined) return fault;
  if (!isJsonObject(meta[metaKeys.clientCapabilities])) return badEnvelope(metaKeys.clientCapabilities, 'an object');
  const info = meta[metaKeys.clientInfo];
  if (info === undefined) return undefined;
  if (isJsonObject(info) && typeof info.name === 'string' && typeof info.version === 'string') return undefined;
  return badEnvelope(metaKeys.clientInfo, 'an object with name and version');
}

function versionFault(claim: unknown): HubError | undefined {
  return typeof claim === 'string' ? undefined : badEnvelope(metaKeys.protocolVersion, 'a string');
}

function nameSource(message: Message & { kind: 'request' }): string | undefined {
  const field = nameFields.get(message.method);
  const value = field === undefined ? undefined : message.params[field];
  return typeof value === 'string' ? value : undefined;
}

/** The parameter that the Mcp-Name header repeats. */
const nameFields: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

function unsupported(requested: string): HubError {
  return new HubError('UNSUPPORTED_VERSION', `Protocol version ${requested} is not supported.`, {
    details: { supported: modernVersions, requested },
  });
}

/** Enough of the sender's text to recognise it. */
function clip(text: string): string {
  return text.slice(0, 100);
}

function mismatch(what: string): HubError {
  return new HubError('HEADER_MISMATCH', `Header mismatch: ${what}.`);
}

function badEnvelope(key: string, expected: string): HubError {
  return new HubError('INVALID_PARAMS', `Params._meta["${key}"] must be ${expected}.`);
}
