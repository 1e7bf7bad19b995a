import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, McpServer } from '@modelcontextprotocol/server';
import { registerContentTools } from './content-tools.mjs';
import { registerInputTools } from './input-tools.mjs';
import { registerLifecycleTools } from './lifecycle-tools.mjs';
import { registerPrompts } from './prompts.mjs';
import { registerResources } from './resources.mjs';

/**
 * A factory of McpServer instances that share what a real server would share: the switch of the tool and the prompt
 * that come and go, and the key that signs request state.
 *
 * @param {{ keepInstances?: boolean }} options keepInstances: instances outlive one request, so tell them of changes
 */
export function createFactory({ keepInstances = false } = {}) {
  const codec = createRequestStateCodec({ key: randomBytes(32) });
  const shared = createSwitches();

  function factory({ era }) {
    const server = new McpServer(
      { name: 'everything-fixture', version: '1.0.0' },
      {
        capabilities: {
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
          logging: {},
          completions: {},
        },
        cacheHints: { 'tools/list': { ttlMs: 1000, cacheScope: 'public' } },
        requestState: { verify: codec.verify },
        instructions: 'Fixture for protocol tests. Nothing it does has an effect.',
      },
    );
    registerContentTools(server);
    registerLifecycleTools(server, shared);
    registerInputTools(server, codec);
    registerResources(server);
    registerPrompts(server);
    shared.attach(server, keepInstances || era === 'legacy');
    return server;
  }

  return { factory, onSwitch: shared.onSwitch };
}

/** One tool and one prompt that a call switches on and off, the same for every instance of this process. */
function createSwitches() {
  const on = { tool: false, prompt: false };
  const instances = new Set();
  const listeners = new Set();
  return {
    onSwitch: (listener) => listeners.add(listener),
    /** @param {'tool' | 'prompt'} kind */
    flip(kind) {
      on[kind] = !on[kind];
      for (const instance of instances) apply(instance[kind], on[kind]);
      for (const listener of listeners) listener(kind);
    },
    attach(server, keep) {
      const tool = server.registerTool('test_dynamic_tool', { description: 'Comes and goes' }, () => ({
        content: [{ type: 'text', text: 'I exist right now.' }],
      }));
      const prompt = server.registerPrompt('test_dynamic_prompt', { description: 'Comes and goes' }, () => ({
        messages: [{ role: 'user', content: { type: 'text', text: 'I exist right now.' } }],
      }));
      apply(tool, on.tool);
      apply(prompt, on.prompt);
      if (!keep) return;
      const instance = { tool, prompt };
      instances.add(instance);
      const onclose = server.server.onclose;
      server.server.onclose = () => {
        instances.delete(instance);
        onclose?.();
      };
    },
  };

  function apply(registered, enabled) {
    if (enabled) registered.enable();
    else registered.disable();
  }
}
