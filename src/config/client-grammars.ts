// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { sep } from 'node:path';
import { type Grammar, inputVariable, literal, type ParsedTemplate, type TemplatePart } from './interpolation.ts';
import type { SourceText } from './source-file.ts';

/**
 * VS Code and Cursor: `${env:X}`, `${input:id}`, `${workspaceFolder}` and a few more. Not nested, and no escape.
 * `defaults` has what the file itself offers for an input.
 */
export function createEditorGrammar(defaults: ReadonlyMap<string, string> = new Map()): Grammar {
  return (text) =>
    splitBy(text, /\$\{([^}]*)(\}?)/g, ([, inner = '', close]) => readEditorForm(inner, close, defaults));
}

/** OpenCode: `{env:X}` and `{file:path}`; everything else is text. `files` has what was read for the latter. */
export function createOpencodeGrammar(files: ReadonlyMap<string, SourceText> = new Map()): Grammar {
  return (text) =>
    splitBy(text, opencodeForms, ([, kind, value = '']) =>
      kind === 'env' ? { kind: 'required', name: value } : readFileForm(value, files),
    );
}

/** The paths that a text names as `{file:path}`. */
export function filesNamedIn(text: string): string[] {
  return [...text.matchAll(opencodeForms)].flatMap(([, kind, path = '']) => (kind === 'file' ? [path] : []));
}

/** No brace inside: a search that ran over the next one could take for ever. */
const opencodeForms = /\{(env|file):([^{}\s](?:[^{}]*[^{}\s])?)\}/g;

type Fault = Extract<ParsedTemplate, { kind: 'fault' }>;

function splitBy(
  text: string,
  pattern: RegExp,
  readForm: (match: RegExpMatchArray) => TemplatePart | Fault,
): ParsedTemplate {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    const part = readForm(match);
    if (part.kind === 'fault') return part;
    parts.push(...literal(text.slice(end, match.index)), part);
    end = match.index + match[0].length;
  }
  parts.push(...literal(text.slice(end)));
  return { kind: 'template', parts };
}

function readEditorForm(
  inner: string,
  close: string | undefined,
  defaults: ReadonlyMap<string, string>,
): TemplatePart | Fault {
  if (close !== '}') return fault('a "${" is not closed', 'Close it, or remove the "${".');
  const fixed = editorForms.get(inner);
  if (fixed !== undefined) return fixed;
  const [, prefix, value = ''] = /^(env|input):(\S+)$/.exec(inner) ?? [];
  if (prefix === 'env') return { kind: 'required', name: value };
  if (prefix === 'input') return readInput(value, defaults);
  const form = /^[\w.:-]{1,80}$/.test(inner) ? `"\${${inner}}"` : 'a "${…}"';
  const name = /^[A-Za-z_]\w*/.exec(inner)?.[0];
  return /^\w+:/.test(inner) && !/^\w+:[-+]/.test(inner)
    ? fault(`${form} is known to the editor only`, 'Write the value itself, or ${env:NAME} and set that variable.')
    : fault(
        `${form} is not a variable in this file`,
        name === undefined ? 'Write ${env:NAME}.' : `Write \${env:${name}}.`,
      );
}

const workspace: TemplatePart = { kind: 'required', name: 'workspaceFolder' };
const separator: TemplatePart = { kind: 'literal', text: sep };

const editorForms: ReadonlyMap<string, TemplatePart> = new Map<string, TemplatePart>([
  ['workspaceFolder', workspace],
  ['workspaceRoot', workspace],
  ['cwd', workspace],
  ['workspaceFolderBasename', { kind: 'required', name: 'workspaceFolderBasename' }],
  ['userHome', { kind: 'required', name: 'HOME' }],
  ['pathSeparator', separator],
  ['/', separator],
]);

function readInput(id: string, defaults: ReadonlyMap<string, string>): TemplatePart {
  const name = inputVariable(id);
  const otherwise = defaults.get(id);
  if (otherwise !== undefined) return { kind: 'default', name, otherwise: literal(otherwise) };
  return { kind: 'required', name, remark: 'The editor asks a person for it; the hub cannot.' };
}

function readFileForm(path: string, files: ReadonlyMap<string, SourceText>): TemplatePart | Fault {
  const source = files.get(path);
  const form = /^[\w./~-]{1,80}$/.test(path) ? `the file ${path}` : 'a file it names';
  switch (source?.kind) {
    case 'text':
      return { kind: 'secret', text: source.text.trim() };
    case 'unreadable':
      return fault(`${form} ${source.message}`, source.fix);
    default:
      return fault(`${form} does not exist`, 'Create it, or write {env:NAME} and set that variable.');
  }
}

function fault(message: string, fix: string): Fault {
  return { kind: 'fault', message, fix };
}
