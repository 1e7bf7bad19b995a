import { type FolderGuard, type FolderOptions, folderCode } from '../../base/index.ts';
import type { TransportPlan, TransportSpec } from '../../domain/index.ts';
import { type Grammar, type Template, type VariablePart, variablesIn } from '../variables/interpolation.ts';
import { isProgram, type ServerBody, type TransportDraft, type WrittenText } from './server-draft.ts';

export interface PlanOptions extends FolderOptions {
  readonly grammar: Grammar;
  /** The transports with every variable expanded, in the same order. */
  readonly resolved: readonly TransportSpec[];
}

/** The transports of a server as written. Every format's variables are shown as `${NAME}`. */
export function planTransports(body: ServerBody, options: PlanOptions): readonly TransportPlan[] {
  return [body.transport, ...body.fallbacks].map((each, index) => {
    const resolved = options.resolved[index];
    const texts = transportTexts(each, options.grammar);
    const found = resolved?.type === 'stdio' ? folderCode(resolved, options) : undefined;
    return {
      type: each.type,
      texts: found?.kind === 'guarded' ? [...texts, guardText(found.guard)] : texts,
      variables: transportVariables(each, options.grammar),
      runsFolderCode: found?.kind === 'runs',
    };
  });
}

/** Part of the plan: when a file of the workspace would make a difference, what starts is another program. */
function guardText(guard: FolderGuard): [string, string] {
  return ['ignores', guard === 'npm' ? 'npm settings and packages of its folder' : 'Python modules of its folder'];
}

/** The content of a server's environment file, by the names of its variables. It is a value, not a text of the plan. */
export function environmentFileValues({ transport, fallbacks }: ServerBody): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const each of [transport, ...fallbacks]) {
    if (!isProgram(each)) continue;
    for (const [name, { template }] of each.env) {
      const parts = template?.kind === 'template' ? template.parts : [];
      for (const part of parts) if (part.kind === 'secret') values.set(`env.${name}`, part.text);
    }
  }
  return values;
}

function transportTexts(transport: TransportDraft, grammar: Grammar): [string, string][] {
  const text = (at: WrittenText): string => writtenText(at, grammar);
  const each = (group: string, texts: ReadonlyMap<string, WrittenText>): [string, string][] =>
    [...texts].map(([name, at]): [string, string] => [`${group}.${name}`, text(at)]).sort(byField);
  if (!isProgram(transport)) {
    return [['url', text(transport.url)], ...each('headers', transport.headers)];
  }
  const { args, env, cwd } = transport;
  const program: [string, string] =
    transport.type === 'stdio' ? ['command', text(transport.command)] : ['builtin', transport.builtin];
  return [
    program,
    ...args.map((at, index): [string, string] => [`args.${index}`, text(at)]),
    ...(cwd === undefined ? [] : [['cwd', text(cwd)] as [string, string]]),
    ...each('env', env),
  ];
}

function transportVariables(transport: TransportDraft, grammar: Grammar): readonly string[] {
  const names = writtenTexts(transport).flatMap(({ text, template }) => {
    const parsed = template ?? grammar(text);
    return parsed.kind === 'fault' ? [] : variablesIn(parsed.parts);
  });
  return [...new Set(names)];
}

function writtenTexts(transport: TransportDraft): readonly WrittenText[] {
  if (!isProgram(transport)) return [transport.url, ...transport.headers.values()];
  const { args, env, cwd } = transport;
  const command = transport.type === 'stdio' ? [transport.command] : [];
  return [...command, ...args, ...(cwd === undefined ? [] : [cwd]), ...env.values()];
}

/** A text that its grammar refuses makes the server invalid, so that nobody is asked to approve it. */
function writtenText({ text, template }: WrittenText, grammar: Grammar): string {
  const parsed = template ?? grammar(text);
  return parsed.kind === 'fault' ? text : templateText(parsed.parts);
}

/** The value is in the environment file. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: variables in plans are written so.
const fromFile = '${file}';

function templateText(template: Template): string {
  return template.map(partText).join('');
}

/** Templates that mean different things give different texts: a literal `$` that could belong to a variable is doubled. */
function partText(part: VariablePart): string {
  switch (part.kind) {
    case 'literal':
      return /\$(?:\{|$)/.test(part.text) ? part.text.replaceAll('$', '$$$$') : part.text;
    case 'secret':
      return fromFile;
    case 'required':
      return `\${${part.from === 'store' ? 'input:' : ''}${part.name}}`;
    case 'default':
      return `\${${part.from === 'store' ? 'input:' : ''}${part.name}:-${templateText(part.otherwise)}}`;
    case 'alternative':
      return `\${${part.name}:+${templateText(part.when)}}`;
  }
}

function byField([left]: readonly [string, string], [right]: readonly [string, string]): number {
  return left < right ? -1 : 1;
}
