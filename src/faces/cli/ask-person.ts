import { isJsonObject } from '../../base/index.ts';
import type { Question, QuestionAnswer } from '../../mcp/index.ts';
import type { CliContext } from './context.ts';
import { type FormField, fieldsOf } from './form-fields.ts';
import { oneLine, printable } from './printable.ts';
import { type ReadLine, readLine } from './read-line.ts';

/** The person at the terminal, who fills in the forms of servers one after the other. */
export interface Person {
  /** Never rejects. */
  ask(question: Question): Promise<QuestionAnswer>;
  /** While it is, nothing else may be written on the terminal. */
  readonly isAsked: boolean;
}

/** What a person at a terminal can be asked. */
export const personCapabilities = { elicitation: { form: {}, url: {} } };

/** Thrown inside alone: the person refused, in one of the two ways that servers know. */
class Refusal {
  readonly action: 'decline' | 'cancel';

  constructor(action: 'decline' | 'cancel') {
    this.action = action;
  }
}

/** `signal` aborts when the call has ended; `server` is who asks. */
export function createPerson(
  { terminal, stdin }: CliContext,
  { server, signal }: { readonly server: string; readonly signal: AbortSignal },
): Person {
  const { errColours: colours } = terminal;
  let last: Promise<unknown> = Promise.resolve();
  let open = 0;

  function ask({ params }: Question): Promise<QuestionAnswer> {
    open++;
    const answer = last.then(() => answerTo(params)).finally(() => open--);
    last = answer;
    return answer;
  }

  async function answerTo(params: Question['params']): Promise<QuestionAnswer> {
    try {
      terminal.err(`${colours.bold(`Server ${oneLine(server)} asks:`)} ${printable(String(params.message ?? ''))}`);
      const answer = params.mode === 'url' ? await visit(params.url) : await fillIn(fieldsOf(params.requestedSchema));
      return result({ action: 'accept', ...answer });
    } catch (error) {
      if (error instanceof Refusal) return result({ action: error.action });
      terminal.err(`The question could not be asked: ${String(error)}`);
      return { kind: 'error', text: JSON.stringify({ code: -32603, message: 'The terminal failed' }) };
    }
  }

  async function visit(url: unknown): Promise<object> {
    terminal.err(`  ${printable(String(url))}`);
    terminal.err(colours.dim('Open the page yourself if you trust it. Ctrl-C closes the question.'));
    await confirm('Go on?', false);
    return {};
  }

  async function fillIn(fields: readonly FormField[]): Promise<object> {
    if (fields.length > 0) terminal.err(colours.dim('Ctrl-D declines, Ctrl-C closes the form.'));
    const content: [string, unknown][] = [];
    for (const field of fields) {
      const value = await valueFor(field);
      if (value !== undefined) content.push([field.name, value]);
    }
    await confirm(`Send this to ${oneLine(server)}?`, fields.length > 0);
    return { content: Object.fromEntries(content) };
  }

  async function valueFor(field: FormField): Promise<unknown> {
    const { title, description, required, byDefault, wanted, choices } = field;
    if (description !== '') terminal.err(`  ${colours.dim(description)}`);
    for (const [index, choice] of choices.entries()) terminal.err(`  ${index + 1}  ${choice.title}`);
    const shown = byDefault === undefined ? '' : ` [${oneLine(shortText(byDefault))}]`;
    const prompt = `${title} (${wanted}${required ? '' : ', optional'})${shown}: `;
    for (;;) {
      const text = await line(prompt);
      if (text === '' && byDefault !== undefined) return byDefault;
      if (text === '' && !required) return undefined;
      const read = text === '' ? ({ ok: false, complaint: 'It is needed.' } as const) : field.read(text);
      if (read.ok) return read.value;
      terminal.err(colours.yellow(read.complaint));
    }
  }

  /** Throws where the person says no. */
  async function confirm(prompt: string, byDefault: boolean): Promise<void> {
    const text = await line(`${prompt} ${byDefault ? '[Y/n]' : '[y/N]'} `);
    if (text === '' ? !byDefault : !/^y(es)?$/i.test(text)) throw new Refusal('decline');
  }

  async function line(prompt: string): Promise<string> {
    const read: ReadLine = await readLine({ input: stdin, output: terminal.errStream }, printable(prompt), signal);
    if (read.kind === 'line') return read.text.trim();
    if (read.kind === 'end') terminal.err('');
    throw new Refusal(read.kind === 'end' ? 'decline' : 'cancel');
  }

  return {
    ask,
    get isAsked() {
      return open > 0;
    },
  };
}

function result(value: object): QuestionAnswer {
  return { kind: 'result', text: JSON.stringify(value) };
}

function shortText(value: unknown): string {
  return typeof value === 'string' ? value : isJsonObject(value) ? '{…}' : String(value);
}
