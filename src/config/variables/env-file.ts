import { entryOf, type SourceNode } from '../files/source-tree.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import type { Nearby } from '../readers/reader.ts';
import { isProgram, type ServerDraft, type WrittenText } from '../servers/server-draft.ts';
import { parseDotEnv } from './parse-dotenv.ts';

/** The path of a server's environment file. */
export function readEnvFileKey(node: SourceNode): WrittenText | undefined {
  const entry = entryOf(node, 'envFile');
  return entry?.value.kind === 'scalar' ? { text: entry.value.text, line: entry.line, field: 'envFile' } : undefined;
}

/** Adds the variables of the file to the program's environment. Values in the configuration itself win. */
export async function addEnvFile(
  draft: ServerDraft,
  at: WrittenText | undefined,
  nearby: Nearby,
): Promise<ServerDraft> {
  const { body } = draft;
  if (at === undefined || body === undefined || !isProgram(body.transport)) return draft;
  const path = at.text.replace(/^\$\{(?:workspaceFolder|cwd)\}(?:\/|$)/, './');
  if (path.includes('${')) {
    return refuse(draft, at, 'contains a variable', 'Write a path relative to the workspace.');
  }
  const source = await nearby(path);
  if (source.kind === 'absent')
    return refuse(draft, at, 'names a file that does not exist', 'Create it, or remove the key.');
  if (source.kind === 'unreadable') return refuse(draft, at, `names a file that ${source.message}`, source.fix);
  const parsed = parseDotEnv(source.text);
  if (parsed.kind === 'broken') {
    return refuse(
      draft,
      at,
      `names a file whose line ${parsed.line} is broken: ${parsed.message}`,
      'Write NAME=value.',
    );
  }
  const env = new Map<string, WrittenText>();
  for (const [name, text] of parsed.values) {
    // The value is not in the configuration file, so it is no literal secret there. It goes straight into the template.
    env.set(name, { ...at, text: '', template: { kind: 'template', parts: [{ kind: 'secret', text }] } });
  }
  for (const [name, own] of body.transport.env) env.set(name, own);
  return { ...draft, body: { ...body, transport: { ...body.transport, env } } };
}

/** Without its environment, the program would start and fail later in a way that is harder to understand. */
function refuse(draft: ServerDraft, at: WrittenText, message: string, fix: string): ServerDraft {
  const finding: Finding = {
    severity: draft.body?.enabled === false ? 'warning' : 'error',
    line: at.line,
    field: dotted(draft.field, at.field),
    server: draft.name,
    message: `Server ${quote(draft.name)}: "envFile" ${message}.`,
    fix,
  };
  return { ...draft, findings: [...draft.findings, finding] };
}
