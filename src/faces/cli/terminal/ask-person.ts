import type { ClientResponse, ServerRequest } from '../../../mcp/index.ts';
import type { CliContext } from '../context.ts';
import { formFieldsOf } from './form-fields.ts';
import { type FormPromptDeps, FormRefusal, promptForFields, promptForVisit } from './form-prompt.ts';
import { printable, printableLine } from './printable.ts';

/** The person at the terminal, who fills in servers' forms one at a time. */
export interface Person {
  /** Never rejects. */
  ask(serverRequest: ServerRequest): Promise<ClientResponse>;
  /** While true, nothing else may be written to the terminal. */
  readonly isAsked: boolean;
}

/** The client capabilities of a person at a terminal. */
export const personCapabilities = { elicitation: { form: {}, url: {} } };

/** `server` sends the requests; `signal` aborts when the call has ended. */
export function createPerson(
  { terminal, stdin }: CliContext,
  { server, signal }: { readonly server: string; readonly signal: AbortSignal },
): Person {
  const deps: FormPromptDeps = { terminal, stdin, server, signal };
  let last: Promise<unknown> = Promise.resolve();
  let open = 0;
  return {
    ask({ params }) {
      open++;
      const answer = last.then(() => answerTo(deps, params)).finally(() => open--);
      last = answer;
      return answer;
    },
    get isAsked() {
      return open > 0;
    },
  };
}

async function answerTo(deps: FormPromptDeps, params: ServerRequest['params']): Promise<ClientResponse> {
  const { terminal, server } = deps;
  try {
    const title = terminal.errColours.bold(`Server ${printableLine(server)} asks:`);
    terminal.err(`${title} ${printable(String(params.message ?? ''))}`);
    return result({ action: 'accept', ...(await inputFor(deps, params)) });
  } catch (error) {
    if (error instanceof FormRefusal) return result({ action: error.action });
    terminal.err(`The question could not be asked: ${String(error)}`);
    return { kind: 'error', text: JSON.stringify({ code: -32603, message: 'The terminal failed' }) };
  }
}

async function inputFor(deps: FormPromptDeps, params: ServerRequest['params']): Promise<object> {
  if (params.mode !== 'url') return { content: await promptForFields(deps, formFieldsOf(params.requestedSchema)) };
  await promptForVisit(deps, params.url);
  return {};
}

function result(value: object): ClientResponse {
  return { kind: 'result', text: JSON.stringify(value) };
}
