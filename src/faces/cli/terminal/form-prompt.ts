import { isJsonObject } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import type { FormField } from './form-fields.ts';
import { printable, printableLine } from './printable.ts';
import { type ReadLine, readLine } from './read-line.ts';

/** Thrown when the person refuses, in one of the two ways of the protocol. */
export class FormRefusal {
  readonly action: 'decline' | 'cancel';

  constructor(action: 'decline' | 'cancel') {
    this.action = action;
  }
}

export interface FormPromptDeps extends Pick<CliContext, 'terminal' | 'stdin'> {
  /** The server whose form it is. */
  readonly server: string;
  /** Aborts when the answers are no longer needed. */
  readonly signal: AbortSignal;
}

/** Shows a URL and asks whether the person has visited it; throws FormRefusal. */
export async function promptForVisit(deps: FormPromptDeps, url: unknown): Promise<void> {
  const { terminal } = deps;
  terminal.err(`  ${printable(String(url))}`);
  terminal.err(terminal.errColours.dim('Open the page yourself if you trust it. Ctrl-C closes the question.'));
  await confirm(deps, 'Go on?', false);
}

/** Asks for the value of each field, then whether to send them; throws FormRefusal. */
export async function promptForFields(deps: FormPromptDeps, fields: readonly FormField[]): Promise<object> {
  const { terminal, server } = deps;
  if (fields.length > 0) terminal.err(terminal.errColours.dim('Ctrl-D declines, Ctrl-C closes the form.'));
  const content: [string, unknown][] = [];
  for (const field of fields) {
    const value = await valueFor(deps, field);
    if (value !== undefined) content.push([field.name, value]);
  }
  await confirm(deps, `Send this to ${printableLine(server)}?`, fields.length > 0);
  return Object.fromEntries(content);
}

async function valueFor(deps: FormPromptDeps, field: FormField): Promise<unknown> {
  const { terminal } = deps;
  const { errColours: colours } = terminal;
  const { title, description, required, byDefault, wanted, choices } = field;
  if (description !== '') terminal.err(`  ${colours.dim(description)}`);
  for (const [index, choice] of choices.entries()) terminal.err(`  ${index + 1}  ${choice.title}`);
  const shown = byDefault === undefined ? '' : ` [${printableLine(shortText(byDefault))}]`;
  const prompt = `${title} (${wanted}${required ? '' : ', optional'})${shown}: `;
  for (;;) {
    const text = await line(deps, prompt);
    if (text === '' && byDefault !== undefined) return byDefault;
    if (text === '' && !required) return undefined;
    const read = text === '' ? ({ ok: false, complaint: 'It is needed.' } as const) : field.read(text);
    if (read.ok) return read.value;
    terminal.err(colours.yellow(read.complaint));
  }
}

async function confirm(deps: FormPromptDeps, prompt: string, byDefault: boolean): Promise<void> {
  const text = await line(deps, `${prompt} ${byDefault ? '[Y/n]' : '[y/N]'} `);
  if (text === '' ? !byDefault : !/^y(es)?$/i.test(text)) throw new FormRefusal('decline');
}

async function line({ terminal, stdin, signal }: FormPromptDeps, prompt: string): Promise<string> {
  const read: ReadLine = await readLine({ input: stdin, output: terminal.errStream }, printable(prompt), signal);
  if (read.kind === 'line') return read.text.trim();
  if (read.kind === 'end') terminal.err('');
  throw new FormRefusal(read.kind === 'end' ? 'decline' : 'cancel');
}

function shortText(value: unknown): string {
  return typeof value === 'string' ? value : isJsonObject(value) ? '{…}' : String(value);
}
