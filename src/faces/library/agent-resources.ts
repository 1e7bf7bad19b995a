import { HubError, type Logger } from '../../base/index.ts';
import type { Agent, AgentDeps } from './agent.ts';
import { createAgentOperations } from './agent-operations.ts';
import {
  type CompletionRef,
  toAgentPrompt,
  toAgentResource,
  toAgentTemplate,
  toCompletionResult,
  toPromptResult,
  toReadResult,
} from './agent-resource.ts';
import type { AgentSession } from './agent-session.ts';

/** An agent's operations other than tool calls. */
export type AgentResources = Pick<
  Agent,
  'resources' | 'resourceTemplates' | 'readResource' | 'prompts' | 'getPrompt' | 'complete' | 'subscribe'
>;

export function createAgentResources(deps: AgentDeps, session: AgentSession): AgentResources {
  const operations = createAgentOperations(deps, session);
  return {
    resources: (options = {}) => operations.list('resource', toAgentResource, options),
    resourceTemplates: (options = {}) => operations.list('template', toAgentTemplate, options),
    prompts: (options = {}) => operations.list('prompt', toAgentPrompt, options),
    async readResource(uri, options = {}) {
      return toReadResult(await operations.run({ kind: 'resource', name: uri, args: { uri } }, options));
    },
    async getPrompt(name, args = {}, options = {}) {
      return toPromptResult(await operations.run({ kind: 'prompt', name, args }, options));
    },
    async complete(ref, argument, known, options = {}) {
      const name = refName(ref);
      const args = { argument, ...(known === undefined ? {} : { context: { arguments: known } }) };
      return toCompletionResult(await operations.run({ kind: 'completion', name, args }, options));
    },
    async subscribe(uri, onUpdate, options = {}) {
      const listener = contained(onUpdate, deps.logger);
      const subscription = deps.hub.resourceSubscription(session.caller, uri, listener);
      try {
        await operations.run({ kind: 'subscription', name: uri, args: { uri }, subscription }, options);
      } catch (error) {
        subscription.end();
        throw error;
      }
      return () => subscription.end();
    },
  };
}

/** A bug in the program's listener must not break the connection that delivered the update. */
function contained(onUpdate: (uri: string) => void, logger: Logger): (uri: string) => void {
  return (changed) => {
    try {
      onUpdate(changed);
    } catch (error) {
      logger.error('library.update-listener-failed', { error: String(error) });
    }
  };
}

function refName(ref: CompletionRef): string {
  if ('prompt' in ref && typeof ref.prompt === 'string') return `prompt:${ref.prompt}`;
  if ('resource' in ref && typeof ref.resource === 'string') return `resource:${ref.resource}`;
  throw new HubError('USAGE', 'That is nothing whose arguments can be completed.', {
    hint: "Write { prompt: 'NAME' } or { resource: 'URI or template' }.",
  });
}
