import type { JSONRPCMessage } from '@modelcontextprotocol/client';

/** Everything that reached a client besides the answers to its requests, in order of arrival. */
export interface Records {
  /** The messages of questions; `roots` for the one that has none. */
  readonly questions: string[];
  /** The messages of progress notifications. */
  readonly progress: string[];
  readonly logs: string[];
  /** The addresses of resources that are new. */
  readonly updates: string[];
  /** Which list has changed: tools, prompts or resources. */
  readonly lists: string[];
  /** The ids of questions by URL of which the server says that they are over. */
  readonly completed: string[];
  /** Notifications of any other kind. */
  readonly others: string[];
  /** What the client could make no sense of, such as an answer to nothing that it asked. */
  readonly errors: string[];
  message(message: JSONRPCMessage): void;
  error(error: Error): void;
  /** A step of the call that has these arguments; its message must hold their nonce. */
  step(step: { readonly message?: string | undefined }, args: object): void;
}

export function createRecords(): Records {
  const records: Records = {
    questions: [],
    progress: [],
    logs: [],
    updates: [],
    lists: [],
    completed: [],
    others: [],
    errors: [],
    message(message) {
      if (!('method' in message) || 'id' in message) return;
      const { method, params = {} } = message;
      if (method === 'notifications/subscriptions/acknowledged') return; // the answer to a request of the client
      const [list, value] = sort(records, method, params);
      list.push(value);
    },
    error(error) {
      // A step right before the answer: the client has dropped the handler with the answer, but the step was recorded.
      if (!/progress notification for an unknown token/.test(error.message)) records.errors.push(String(error));
    },
    step({ message = '' }, args) {
      if (!records.progress.includes(message)) return; // the client's own, between a question and its answer
      const nonce = 'nonce' in args ? String(args.nonce) : '';
      if (message.split(':')[1] !== nonce) records.errors.push(`step ${message} of the call with nonce ${nonce}`);
    },
  };
  return records;
}

function sort(records: Records, method: string, params: Readonly<Record<string, unknown>>): [string[], string] {
  switch (method) {
    case 'notifications/progress':
      return [records.progress, String(params.message)];
    case 'notifications/message':
      return [records.logs, String(params.data)];
    case 'notifications/resources/updated':
      return [records.updates, String(params.uri)];
    case 'notifications/elicitation/complete':
      return [records.completed, String(params.elicitationId)];
    case 'notifications/tools/list_changed':
    case 'notifications/prompts/list_changed':
    case 'notifications/resources/list_changed':
      return [records.lists, method.split('/')[1] ?? method];
    default:
      return [records.others, method];
  }
}
