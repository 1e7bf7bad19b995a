import { parseDotEnv } from './parse-dotenv.ts';
import { dotted, type Finding, quote } from './problems.ts';
import type { Nearby } from './readers/reader.ts';
import { isProgram, type ServerDraft, type WrittenText } from './server-draft.ts';
import { entryOf, type SourceNode } from './source-tree.ts';

/** Where a server names a file with its environment. */
export function readEnvFileKey(node: SourceNode): WrittenText | undefined {
  const entry = entryOf(node, 'envFile');
  return entry?.value.kind === 'scalar' ? { text: entry.value.text, line: entry.line, field: 'envFile' } : undefined;
}

/** Adds what the file says to the environment of the program; what stands in the configuration itself wins. */
export async function addEnvFile(
  draft: ServerDraft,
  at: WrittenText | undefined,
  nearby: Nearby,
): Promise<ServerDraft> {
  const { body } = draft;
  if (at === undefined || body === undefined || !isProgram(body.transport)) return draft;
  const path = at.text.replace(/^\$\{(?:workspaceFolder|cwd)\}(?:\/|$)/, './');
  if (path.includes('${')) {
    return refuse(draft, at, 'holds a variable', 'Write a path relative to the workspace.');
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
    // Not in the configuration file, so no literal secret of it: it goes straight into the template.
    env.set(name, { ...at, text: '', template: { kind: 'template', parts: [{ kind: 'secret', text }] } });
  }
  for (const [name, own] of body.transport.env) env.set(name, own);
  return { ...draft, body: { ...body, transport: { ...body.transport, env } } };
}

/** Without its environment a program would start and fail later, harder to understand. */
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
