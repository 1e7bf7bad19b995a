import { grownPrompt, grownResource, grownTool } from './grown.mjs';

const register = { tool: grownTool, prompt: grownPrompt, resource: grownResource };

/** What the instances of one process have in common: what was cancelled, what was added, and who wants to know. */
export function createBoard(label) {
  const cancelled = [];
  const grown = [];
  const instances = new Set();
  const listeners = new Set();

  return {
    cancelled,

    /** Hears of changes on behalf of those whose instances live for one request only. */
    onChange: (listener) => listeners.add(listener),

    /** @param {'tool' | 'prompt' | 'resource'} kind */
    grow(kind, name) {
      if (grown.some((one) => one.kind === kind && one.name === name)) return;
      grown.push({ kind, name });
      // The SDK announces what is registered on a connected instance.
      for (const { server } of instances) register[kind](server, label, name);
      for (const listener of listeners) listener({ kind });
    },

    async touch(uri) {
      for (const { server, wants } of instances) if (wants(uri)) await server.server.sendResourceUpdated({ uri });
      for (const listener of listeners) listener({ kind: 'update', uri });
    },

    attach(server, { era, keep }) {
      for (const { kind, name } of grown) register[kind](server, label, name);
      const wants = era === 'legacy' ? takeSubscriptions(server) : () => true; // modern: the SDK knows who listens
      if (!keep) return;
      const instance = { server, wants };
      instances.add(instance);
      const onclose = server.server.onclose;
      server.server.onclose = () => {
        instances.delete(instance);
        onclose?.();
      };
    },
  };
}

function takeSubscriptions(server) {
  const uris = new Set();
  server.server.setRequestHandler('resources/subscribe', ({ params }) => {
    uris.add(params.uri);
    return {};
  });
  server.server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    uris.delete(params.uri);
    return {};
  });
  return (uri) => uris.has(uri);
}
