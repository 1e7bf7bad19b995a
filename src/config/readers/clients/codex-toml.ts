import { z } from 'zod';
import { parseToml } from '../../files/parse-toml.ts';
import { child, entryOf, lineAt, type SourceNode } from '../../files/source-tree.ts';
import { warnForeignVariables } from '../../files/written-texts.ts';
import type { Finding } from '../../findings.ts';
import { transportShape, transportTypes } from '../../schema.ts';
import { readEnabled } from '../../servers/read-enabled-tools.ts';
import { millisecondsAt } from '../../servers/read-limits.ts';
import {
  completeLimits,
  fullAccess,
  isProgram,
  type ServerPlace,
  type TransportDraft,
  type WrittenText,
} from '../../servers/server-draft.ts';
import { textAt, textsAt } from '../../texts.ts';
import { literalGrammar, type VariablePart } from '../../variables/interpolation.ts';
import type { FileOutcome, Reader } from '../reader.ts';
import { type ClientFormat, ignored, readClientFile, warning } from './client-file.ts';
import { readApprovals } from './codex-approvals.ts';

/** Codex's project settings, which include the servers. Texts contain no variables; separate keys name them. */
export const codexToml: Reader = {
  place: { file: '.codex/config.toml' },
  grammar: literalGrammar,
  workspaceNames: [],
  restricts: false,
  writeVariable: (name) => ({ advice: `Name ${name} in "env_vars", "env_http_headers" or "bearer_token_env_var"` }),
  parse: parseToml,
  read,
};

const { command, args, env, cwd, url, headers } = transportShape;
const seconds = z.number().positive().max(2_147_483).optional();
const toolNames = z.array(z.string()).optional();

const format: ClientFormat = {
  client: 'Codex',
  key: 'mcp_servers',
  others: 'settings',
  servers: {
    schema: z.strictObject({
      type: z.enum(transportTypes).optional(),
      command,
      args,
      env,
      env_vars: z.array(z.union([z.string(), z.looseObject({ name: z.string() })])).optional(),
      cwd,
      url,
      bearer_token_env_var: z.string().min(1).optional(),
      bearer_token: ignored,
      http_headers: headers,
      headers: ignored,
      env_http_headers: z.record(z.string(), z.string()).optional(),
      startup_timeout_sec: ignored,
      startup_timeout_ms: ignored,
      tool_timeout_sec: seconds,
      enabled: z.boolean().optional(),
      required: ignored,
      enabled_tools: toolNames,
      disabled_tools: toolNames,
      scopes: ignored,
      oauth: ignored,
      oauth_resource: ignored,
      name: ignored,
      supports_parallel_tool_calls: ignored,
      experimental_environment: ignored,
      default_tools_approval_mode: ignored,
      tools: ignored,
    }),
    ownTools: true,
    guards: ['enabled', 'enabled_tools', 'disabled_tools'],
    keys: () => ({ headers: 'http_headers' }),
    readBody(node, findings, place) {
      const approvals = readApprovals(node, findings, place);
      findMisplaced(node, findings, place);
      const [include, exclude] = [textsAt(node, 'enabled_tools'), textsAt(node, 'disabled_tools')];
      return {
        description: undefined,
        enabled: readEnabled(node, findings, place),
        shared: false,
        tools: { ...(include === undefined ? {} : { include }), ...(exclude === undefined ? {} : { exclude }) },
        ...(approvals === undefined ? {} : { rules: [approvals] }),
        limits: completeLimits({ timeoutMs: millisecondsAt(node, 'tool_timeout_sec') }),
        fallbacks: [],
        access: fullAccess(place.line),
        instead: undefined,
      };
    },
    completeTransport,
  },
};

function read(root: SourceNode, file: string): FileOutcome {
  const readResult = readClientFile(root, file, format);
  if (readResult.kind !== 'read') return readResult;
  const fix = (name: string): string => `Name ${name} in "env_vars", "env_http_headers" or "bearer_token_env_var".`;
  const servers = readResult.content.servers.map((draft) => warnForeignVariables(draft, 'Codex', { fix }));
  return { kind: 'read', content: { ...readResult.content, servers } };
}

/** Reports keys that Codex itself rejects or ignores. */
function findMisplaced(node: SourceNode, findings: Finding[], place: ServerPlace): void {
  const add = (key: string, message: string, fix: string, severity: Finding['severity'] = 'warning'): void => {
    if (child(node, key) === undefined) return;
    findings.push({ ...warning(place, key, lineAt(node, [key]), `"${key}" ${message}`, fix), severity });
  };
  add('headers', 'is ignored, because Codex calls it "http_headers"', 'Rename it to "http_headers".');
  const fix = 'Put the token into a variable, and name that one in "bearer_token_env_var".';
  add('bearer_token', 'is a secret in the file, which Codex does not accept', fix, 'error');
  if (child(node, 'command') === undefined) add('env_vars', 'does not apply to an http server', 'Remove it.');
  else
    for (const key of ['bearer_token_env_var', 'env_http_headers'])
      add(key, 'does not apply to a program', 'Remove it.');
}

function completeTransport(transport: TransportDraft, node: SourceNode): TransportDraft {
  return isProgram(transport)
    ? { ...transport, env: new Map([...passedOn(node), ...transport.env]) }
    : { ...transport, headers: new Map([...transport.headers, ...headersFromVariables(node)]) };
}

/** Codex passes these variables on if they are set. */
function passedOn(node: SourceNode): [string, WrittenText][] {
  const list = child(node, 'env_vars');
  return (list?.kind === 'list' ? list.items : []).map((item, index) => {
    const name = item.kind === 'scalar' ? item.text : (textAt(item, 'name') ?? '');
    const at = { line: item.line, field: `env_vars.${index}` };
    return [name, { ...fromVariable(at, [{ kind: 'required', name }]), whenMissing: 'omit' }];
  });
}

function headersFromVariables(node: SourceNode): [string, WrittenText][] {
  const named = child(node, 'env_http_headers');
  const found = (named?.kind === 'map' ? named.entries : []).map(({ key, line, value }): [string, WrittenText] => {
    const at = { line, field: `env_http_headers.${key}` };
    const name = value.kind === 'scalar' ? value.text : '';
    return [key, { ...fromVariable(at, [{ kind: 'required', name }]), whenMissing: 'omit' }];
  });
  const bearer = entryOf(node, 'bearer_token_env_var');
  if (bearer?.value.kind !== 'scalar') return found;
  const at = { line: bearer.line, field: 'bearer_token_env_var' };
  const parts: VariablePart[] = [
    { kind: 'literal', text: 'Bearer ' },
    { kind: 'required', name: bearer.value.text },
  ];
  return [...found, ['Authorization', fromVariable(at, parts)]];
}

function fromVariable(at: Omit<WrittenText, 'text'>, parts: readonly VariablePart[]): WrittenText {
  return { ...at, text: '', template: { kind: 'template', parts } };
}
