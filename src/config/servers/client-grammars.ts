// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { sep } from 'node:path';
import type { SourceText } from '../files/source-file.ts';
import { type Grammar, literal, type ParsedTemplate, type VariablePart } from '../variables/interpolation.ts';

/**
 * VS Code, Cursor and their relatives: `${env:X}`, `${input:id}`, `${workspaceFolder}` and a few more. People also write
 * `${X}` and `${X:-text}`, as in .mcp.json. No nesting, no escape. `defaults` holds the file's own default for each input.
 * The editor asks a person for an input, who sees where it goes. The environment is no such person: with it, a cloned file
 * could name any variable and send it to its own server.
 */
export function createEditorGrammar(defaults: ReadonlyMap<string, string> = new Map()): Grammar {
  return (text) => splitBy(text, editorPattern, ([, inner = '', close]) => readEditorForm(inner, close, defaults));
}

/**
 * The same for text that another program expands: a shell's script, or a variable that the program gets from its entry.
 * `isOurs` tells which names are still meant for the hub.
 */
export function createLenientGrammar(
  defaults: ReadonlyMap<string, string>,
  isOurs: (name: string) => boolean,
): Grammar {
  return (text) =>
    splitBy(text, editorPattern, ([whole, inner = '', close]) => {
      const name = /^[A-Za-z_]\w*/.exec(inner)?.[0];
      const isEditors = editorForms.has(inner) || /^(?:env|input):\S+$/.test(inner);
      if (close === '}' && (isEditors || (name !== undefined && isOurs(name)))) {
        return readEditorForm(inner, close, defaults);
      }
      return { kind: 'literal', text: whole };
    });
}

const editorPattern = /\$\{([^}]*)(\}?)/g;

/** OpenCode: `{env:X}` and `{file:path}`. Everything else is text. `files` holds the contents for `{file:path}`. */
export function createOpencodeGrammar(files: ReadonlyMap<string, SourceText> = new Map()): Grammar {
  return (text) =>
    splitBy(text, opencodeForms, ([, kind, value = '']) =>
      kind === 'env' ? { kind: 'required', name: value } : readFileForm(value, files),
    );
}

/** The paths that a text refers to as `{file:path}`. */
export function filesNamedIn(text: string): string[] {
  return [...text.matchAll(opencodeForms)].flatMap(([, kind, path = '']) => (kind === 'file' ? [path] : []));
}

/** Excludes braces, so that a match cannot run past the next one and take quadratic time. */
const opencodeForms = /\{(env|file):([^{}\s](?:[^{}]*[^{}\s])?)\}/g;

type Fault = Extract<ParsedTemplate, { kind: 'fault' }>;

function splitBy(
  text: string,
  pattern: RegExp,
  readForm: (match: RegExpMatchArray) => VariablePart | Fault,
): ParsedTemplate {
  const parts: VariablePart[] = [];
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
): VariablePart | Fault {
  if (close !== '}') return fault('a "${" is not closed', 'Close it, or remove the "${".');
  const fixed = editorForms.get(inner);
  if (fixed !== undefined) return fixed;
  const [, prefix, value = ''] = /^(env|input):(\S+)$/.exec(inner) ?? [];
  if (prefix === 'env') return { kind: 'required', name: value };
  if (prefix === 'input') return readInput(value, defaults);
  const [, name, operator, operand = ''] = /^([A-Za-z_]\w*)(?:(:[-+])([^$]*))?$/.exec(inner) ?? [];
  if (name !== undefined && !ofEditor.has(name)) return readShellForm(name, operator, operand);
  const form = /^[\w.:-]{1,80}$/.test(inner) ? `"\${${inner}}"` : 'a "${…}"';
  return name !== undefined || (/^\w+:/.test(inner) && !/^\w+:[-+]/.test(inner))
    ? fault(`${form} is known to the editor only`, 'Write the value itself, or ${env:NAME} and set that variable.')
    : fault(`${form} is not a variable in this file`, `Write \${env:${/^[A-Za-z_]\w*/.exec(inner)?.[0] ?? 'NAME'}}.`);
}

function readShellForm(name: string, operator: string | undefined, operand: string): VariablePart {
  if (operator === undefined) return { kind: 'required', name };
  return operator === ':-'
    ? { kind: 'default', name, otherwise: literal(operand) }
    : { kind: 'alternative', name, when: literal(operand) };
}

/** Facts about the file that is open in the editor, and settings of the editor. */
const ofEditor: ReadonlySet<string> = new Set([
  ...['file', 'fileBasename', 'fileBasenameNoExtension', 'fileDirname', 'fileDirnameBasename', 'fileExtname'],
  ...['fileWorkspaceFolder', 'relativeFile', 'relativeFileDirname', 'lineNumber', 'columnNumber', 'selectedText'],
  ...['execPath', 'defaultBuildTask', 'extensionInstallFolder'],
]);

const workspace: VariablePart = { kind: 'required', name: 'workspaceFolder' };
const separator: VariablePart = { kind: 'literal', text: sep };

const editorForms: ReadonlyMap<string, VariablePart> = new Map<string, VariablePart>([
  ['workspaceFolder', workspace],
  ['workspaceRoot', workspace],
  ['cwd', workspace],
  ['workspaceFolderBasename', { kind: 'required', name: 'workspaceFolderBasename' }],
  ['userHome', { kind: 'required', name: 'HOME' }],
  ['pathSeparator', separator],
  ['/', separator],
]);

function readInput(name: string, defaults: ReadonlyMap<string, string>): VariablePart | Fault {
  if (!/^[A-Za-z_][\w.-]{0,127}$/.test(name)) {
    return fault(
      'an "${input:…}" has an id that no secret can have',
      'Use letters, digits, "_", "." and "-" in the id.',
    );
  }
  const otherwise = defaults.get(name);
  if (otherwise !== undefined) return { kind: 'default', name, from: 'store', otherwise: literal(otherwise) };
  return { kind: 'required', name, from: 'store' };
}

function readFileForm(path: string, files: ReadonlyMap<string, SourceText>): VariablePart | Fault {
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
