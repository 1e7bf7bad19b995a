/** MCP on the wire in both eras, as far as the raw fixtures need it. */
export const modernVersion = '2026-07-28';
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

const prefix = 'io.modelcontextprotocol/';
export const versionKey = `${prefix}protocolVersion`;
export const capabilitiesKey = `${prefix}clientCapabilities`;
const serverInfoKey = `${prefix}serverInfo`;
const subscriptionKey = `${prefix}subscriptionId`;

export const codes = {
  parse: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
};

export function success(id, result) {
  return { jsonrpc: '2.0', id, result };
}

export function failure(id, code, message, data) {
  return { jsonrpc: '2.0', id: id ?? null, error: data === undefined ? { code, message } : { code, message, data } };
}

export function notification(method, params) {
  return params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params };
}

/** Every modern result names its kind and its server; lists also say how long they may be kept. */
export function modernResult(server, result, cacheable = false) {
  return {
    resultType: 'complete',
    ...(cacheable ? { ttlMs: 0, cacheScope: 'private' } : {}),
    ...result,
    _meta: { ...result._meta, [serverInfoKey]: { name: server.name, version: '1.0.0' } },
  };
}

export function initializeResult(server, params) {
  const requested = params?.protocolVersion;
  return {
    protocolVersion: legacyVersions.includes(requested) ? requested : legacyVersions[0],
    capabilities: { tools: { listChanged: server.onChange !== undefined } },
    serverInfo: { name: server.name, version: '1.0.0' },
    instructions: server.instructions,
  };
}

export function discoverResult(server) {
  const tools = { listChanged: server.onChange !== undefined };
  const capabilities = server.extensions === undefined ? { tools } : { tools, extensions: server.extensions };
  const { instructions } = server;
  return modernResult(server, { supportedVersions: [modernVersion], capabilities, instructions }, true);
}

/** What is wrong with the metadata of a modern request, as a JSON-RPC error, or undefined. */
export function envelopeProblem(message) {
  const meta = message.params?._meta;
  const version = meta?.[versionKey];
  if (message.method === 'initialize') {
    return failure(message.id, codes.unsupportedVersion, 'This server has no handshake', {
      supported: [modernVersion],
      requested: message.params?.protocolVersion,
    });
  }
  if (typeof version !== 'string' || typeof meta?.[capabilitiesKey] !== 'object') {
    return failure(message.id, codes.invalidParams, 'Required request metadata is missing');
  }
  if (version !== modernVersion) {
    const data = { supported: [modernVersion], requested: version };
    return failure(message.id, codes.unsupportedVersion, 'Unsupported protocol version', data);
  }
  return undefined;
}

export function subscriptionNotice(id, method, params = {}) {
  return notification(method, { ...params, _meta: { [subscriptionKey]: id } });
}
