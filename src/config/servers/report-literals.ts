// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { dotted, type Finding, quote } from '../findings.ts';
import type { Grammar } from '../variables/interpolation.ts';
import { type FoundLiteral, findLiteralSecrets, type WriteVariable } from '../variables/literal-secrets.ts';
import type { ServerDraft, TransportDraft } from './server-draft.ts';

export interface LiteralContext {
  readonly file: string;
  readonly grammar: Grammar;
  /** How the format writes a variable. Undefined: `${NAME}`. */
  readonly writeVariable: WriteVariable | undefined;
}

/** The credentials that a file has in one transport of a server. */
export function literalsOf(draft: ServerDraft, transport: TransportDraft, context: LiteralContext): FoundLiteral[] {
  const { file, grammar, writeVariable = writeShellVariable } = context;
  const canWrite = 'text' in writeVariable('NAME');
  const write = (name: string): string => {
    const written = writeVariable(name);
    return 'text' in written ? written.text : '';
  };
  return findLiteralSecrets(draft.name, transport, grammar).map(({ at, value, variable }) => ({
    server: draft.name,
    file,
    at,
    value,
    variable,
    write: canWrite ? write : undefined,
  }));
}

const writeShellVariable: WriteVariable = (name) => ({ text: `\${${name}}` });

export function literalFinding(
  { name, field }: ServerDraft,
  { at, variable }: FoundLiteral,
  { writeVariable = writeShellVariable }: LiteralContext,
): Finding {
  const written = writeVariable(variable);
  return {
    severity: 'warning',
    line: at.line,
    field: dotted(field, at.field),
    server: name,
    message: `Server ${quote(name)}: ${quote(at.field)} looks like a secret written into the file.`,
    fix:
      'text' in written
        ? `Run \`${moveCommand(name, at.field)}\`: it stores the value and writes ${written.text} instead. Revoke the secret if others could read the file.`
        : `${written.advice}, store a new value with \`qm secret set ${variable}\`, and revoke this one.`,
  };
}

/** To copy into a shell. Without the field, all secrets of the server are meant. */
function moveCommand(server: string, field: string): string {
  const words = /^[\w.-]{1,80}$/.test(field) ? [server, field] : [server];
  return ['qm secret move', ...words].join(' ');
}
