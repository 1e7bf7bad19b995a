import { HubError } from '../../base/index.ts';
import type { ListedKind, View } from '../../calls/index.ts';
import type { Agent, AgentDeps } from './agent.ts';
import {
  type CompletionRef,
  toAgentPrompt,
  toAgentResource,
  toAgentTemplate,
  toCompletionResult,
  toPromptResult,
  toReadResult,
} from './agent-reading.ts';
import type { AgentSession } from './agent-session.ts';
import { type WaitOptions, withDeadline } from './deadline.ts';
import { discoverWithin, discoveryMs } from './discover.ts';
import { jsonText } from './json-text.ts';
import { type Order, operate } from './operate.ts';
import type { ToolAnswer } from './tool-result.ts';

/** What an agent has besides tools. */
export type AgentReadings = Pick<
  Agent,
  'resources' | 'resourceTemplates' | 'readResource' | 'prompts' | 'getPrompt' | 'complete' | 'subscribe'
>;

interface Reading extends Pick<Order, 'args' | 'watch'> {
  readonly kind: Parameters<View['find']>[0];
  /** As the agent says it. */
  readonly nameIn: (view: View) => string;
}

interface Answer {
  readonly answer: ToolAnswer;
  readonly server: string;
  readonly durationMs: number;
}

export function createAgentReadings(deps: AgentDeps, session: AgentSession): AgentReadings {
  const { hub, clock, logger } = deps;
  const { caller } = session;
  const { chain } = caller;

  /** Servers that were never reached may have what is sought. */
  async function discovered(isEnough: (view: View) => boolean, signal: AbortSignal | undefined): Promise<View> {
    const view = hub.views.of(chain);
    if (isEnough(view)) return view;
    const unseen = view.unseen.map(({ spec }) => spec.name);
    await discoverWithin(hub, unseen, { clock, limitMs: discoveryMs, signal });
    return hub.views.of(chain);
  }

  function list<T>(kind: ListedKind, toItem: (listed: ReturnType<View['listed']>[number]) => T, options: WaitOptions) {
    return withDeadline(clock, options, async (signal) => {
      const view = await discovered(({ unseen }) => unseen.length === 0, signal);
      return view.listed(kind).map(toItem);
    });
  }

  function act({ nameIn, ...order }: Reading, options: WaitOptions): Promise<Answer> {
    const target: Order['target'] = (view) => view.find(order.kind, nameIn(view));
    return withDeadline(clock, options, async (signal) => {
      const view = await discovered((known) => target(known) !== undefined, signal);
      const name = nameIn(view);
      const argumentsText = jsonText(order.args, name);
      const startedAt = clock.monotonic();
      const full = { ...order, name, argumentsText, target };
      const answer = await operate(deps, session, full, signal === undefined ? {} : { signal });
      const { server = '' } = target(hub.views.of(chain)) ?? {};
      return { answer, server, durationMs: clock.monotonic() - startedAt };
    });
  }

  async function subscribe(uri: string, onUpdate: (uri: string) => void, options: WaitOptions = {}) {
    const watch = hub.resourceWatch(caller, uri, (changed) => {
      try {
        onUpdate(changed);
      } catch (error) {
        // The program's own defect; it must not cost the connection that brought the message.
        logger.error('update_listener_failed', { error: String(error) });
      }
    });
    try {
      await act({ kind: 'subscription', nameIn: () => uri, args: { uri }, watch }, options);
    } catch (error) {
      watch.end();
      throw error;
    }
    return () => watch.end();
  }

  return {
    resources: (options = {}) => list('resource', toAgentResource, options),
    resourceTemplates: (options = {}) => list('template', toAgentTemplate, options),
    prompts: (options = {}) => list('prompt', toAgentPrompt, options),
    async readResource(uri, options = {}) {
      const order = { kind: 'resource', nameIn: () => uri, args: { uri } } as const;
      const { answer, server, durationMs } = await act(order, options);
      return toReadResult(answer, server, durationMs);
    },
    async getPrompt(name, args = {}, options = {}) {
      const order = { kind: 'prompt', nameIn: (view: View) => promptName(view, name), args } as const;
      const { answer, server, durationMs } = await act(order, options);
      return toPromptResult(answer, server, durationMs);
    },
    async complete(ref, argument, known, options = {}) {
      const name = refName(ref);
      const args = { argument, ...(known === undefined ? {} : { context: { arguments: known } }) };
      return toCompletionResult((await act({ kind: 'completion', nameIn: () => name, args }, options)).answer);
    },
    subscribe,
  };
}

/** By the name the agent sees, or by `server.prompt`, as operators say it. */
function promptName(view: View, name: string): string {
  if (view.find('prompt', name) !== undefined) return name;
  return view.listed('prompt').find(({ server, own }) => `${server}.${own}` === name)?.name ?? name;
}

function refName(ref: CompletionRef): string {
  if ('prompt' in ref && typeof ref.prompt === 'string') return `prompt:${ref.prompt}`;
  if ('resource' in ref && typeof ref.resource === 'string') return `resource:${ref.resource}`;
  throw new HubError('USAGE', 'That is nothing whose arguments can be completed.', {
    hint: "Write { prompt: 'NAME' } or { resource: 'URI or template' }.",
  });
}
