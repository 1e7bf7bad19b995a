import type { JSONRPCMessage } from '@modelcontextprotocol/client';

/** Everything that a client received besides the responses to its requests, in order of arrival. */
export interface Records {
  /** The messages of server requests; `roots` for those without one. */
  readonly questions: string[];
  /** The messages of progress notifications. */
  readonly progress: string[];
  readonly logs: string[];
  /** The URIs of updated resources. */
  readonly updates: string[];
  /** The lists that changed: tools, prompts or resources. */
  readonly lists: string[];
  /** The ids of URL elicitations that the server reported as complete. */
  readonly completed: string[];
  /** Notifications of any other kind. */
  readonly others: string[];
  /** Messages that the client could not handle, such as a response to no request. */
  readonly errors: string[];
  message(message: JSONRPCMessage): void;
  error(error: Error): void;
  /** Records progress of the call with these arguments. Its message must contain their nonce. */
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
      if (method === 'notifications/subscriptions/acknowledged') return; // the response to a request of the client
      const [list, value] = sort(records, method, params);
      list.push(value);
    },
    error(error) {
      // Progress right before the response: the client has already dropped the handler, but the progress was recorded.
      if (!/progress notification for an unknown token/.test(error.message)) records.errors.push(String(error));
    },
    step({ message = '' }, args) {
      if (!records.progress.includes(message)) return; // the client's own, between a server request and its answer
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
