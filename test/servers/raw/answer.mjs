import { logCall, logCancel, logInitialize } from './call-log.mjs';
import {
  codes,
  discoverResult,
  envelopeProblem,
  failure,
  initializeResult,
  modernResult,
  notification,
  subscriptionNotice,
  success,
} from './protocol.mjs';
import { sliceOf } from './slice.mjs';

/**
 * One request, answered. A server is
 *   { name, instructions?, listTools(params), callTool(call), onChange?(listener) → stop, extensions?, modern?: { method: (params) → result } }.
 * Returns the response, or undefined when none is due (the call was cancelled, a subscription ended).
 *
 * @param {'legacy' | 'modern'} era
 * @param {{ send(message): void, signal: AbortSignal, http?: object }} io
 */
export async function answer(server, era, text, message, io) {
  const problem = era === 'modern' ? envelopeProblem(message) : undefined;
  if (problem !== undefined) return problem;
  const shape = era === 'modern' ? (result, cacheable) => modernResult(server, result, cacheable) : (result) => result;
  try {
    switch (message.method) {
      case 'tools/list':
        return success(message.id, shape(await server.listTools(message.params ?? {}), true));
      case 'tools/call':
        return await answerCall(server, text, message, io, shape);
      case 'subscriptions/listen':
        if (era === 'modern' && server.onChange !== undefined) return await listen(server, message, io);
        break;
      case 'server/discover':
        if (era === 'modern') return success(message.id, discoverResult(server));
        break;
      case 'initialize':
        logInitialize(message);
        return success(message.id, initializeResult(server, message.params));
      case 'ping':
        if (era === 'legacy') return success(message.id, {});
        break;
    }
    const more = era === 'modern' ? server.modern?.[message.method] : undefined;
    if (more !== undefined) return success(message.id, shape(await more(message.params ?? {})));
    return failure(message.id, codes.unknownMethod, `Method not found: ${message.method}`);
  } catch (error) {
    return failure(message.id, error.rpcCode ?? -32603, error.message, error.rpcData);
  }
}

/** An error that goes over the wire as a JSON-RPC error instead of a tool's own failure. */
export function invalidParams(message) {
  return Object.assign(new Error(message), { rpcCode: codes.invalidParams });
}

async function answerCall(server, text, message, io, shape) {
  const { name, arguments: args, inputResponses, _meta: meta } = message.params ?? {};
  logCall(message, text);
  const token = meta?.progressToken;
  const result = await server.callTool({
    name,
    arguments: args ?? {},
    rawArguments: () => sliceOf(text, ['params', 'arguments']),
    inputResponses,
    meta,
    http: io.http,
    signal: io.signal,
    progress(progress, total) {
      if (token === undefined || io.signal.aborted) return;
      io.send(notification('notifications/progress', { progressToken: token, progress, total }));
    },
  });
  if (!io.signal.aborted) return success(message.id, shape(result));
  logCancel({ tool: name, id: message.id });
  return undefined;
}

async function listen(server, message, io) {
  const wanted = message.params?.notifications?.toolsListChanged === true;
  const honoured = wanted ? { toolsListChanged: true } : {};
  io.send(subscriptionNotice(message.id, 'notifications/subscriptions/acknowledged', { notifications: honoured }));
  if (!wanted) return success(message.id, modernResult(server, {}));
  const stop = server.onChange(() => io.send(subscriptionNotice(message.id, 'notifications/tools/list_changed')));
  await new Promise((resolve) => {
    if (io.signal.aborted) resolve();
    else io.signal.addEventListener('abort', resolve, { once: true });
  });
  stop();
  return undefined;
}
