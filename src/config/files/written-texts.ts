import { dotted, type Finding, quote } from '../findings.ts';
import { isProgram, type ServerDraft, type TransportDraft, type WrittenText } from '../servers/server-draft.ts';

/** The texts of a transport that may contain variables. */
export function writtenTexts(transport: TransportDraft): readonly WrittenText[] {
  if (!isProgram(transport)) return [transport.url, ...transport.headers.values()];
  const { args, env, cwd } = transport;
  return [
    ...(transport.type === 'stdio' ? [transport.command] : []),
    ...args,
    ...env.values(),
    ...(cwd === undefined ? [] : [cwd]),
  ];
}

export interface ForeignVariables {
  /** What to do instead. */
  readonly fix: (name: string) => string;
  /** The format itself reads `${X}`. */
  readonly braces?: 'read';
}

/**
 * Warns about a value that looks like a variable of another format, which its own client would pass on unchanged. Skips
 * arguments, because a script in one may contain a `$` of its own.
 */
export function warnForeignVariables(draft: ServerDraft, client: string, format: ForeignVariables): ServerDraft {
  const transport = draft.body?.transport;
  if (transport === undefined) return draft;
  const values = isProgram(transport) ? transport.env.values() : [transport.url, ...transport.headers.values()];
  const isForeign = ({ text }: WrittenText): boolean =>
    bareVariable.test(text) || (format.braces !== 'read' && bracedVariable.test(text));
  const [first, ...others] = [...values].filter(isForeign);
  if (first === undefined) return draft;
  const subject = quote(first.field);
  const looks =
    others.length === 0
      ? `${subject} looks like a variable`
      : `${subject} and ${others.length} more look like variables`;
  const name = bareVariable.exec(first.text)?.[1] ?? /\$\{([A-Za-z_]\w*)/.exec(first.text)?.[1] ?? 'NAME';
  const finding: Finding = {
    severity: 'warning',
    line: first.line,
    field: dotted(draft.field, first.field),
    server: draft.name,
    message: `Server ${quote(draft.name)}: ${looks}, but ${client} passes such text on unchanged.`,
    fix: format.fix(name),
  };
  return { ...draft, findings: [...draft.findings, finding] };
}

const bareVariable = /(?:^|\s)\$([A-Z_][A-Z0-9_]*)$/;
const bracedVariable = /\$\{(?:[^}$]|\$(?!\{))+\}/;
