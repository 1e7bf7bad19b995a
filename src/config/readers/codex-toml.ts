import { z } from 'zod';
import { literalGrammar, type TemplatePart } from '../interpolation.ts';
import { parseToml } from '../parse-toml.ts';
import type { Finding } from '../problems.ts';
import { millisecondsAt } from '../read-limits.ts';
import { readEnabled } from '../read-offer.ts';
import { transportShape, transportTypes } from '../schema.ts';
import {
  completeLimits,
  fullAccess,
  isProgram,
  type ServerPlace,
  type TransportDraft,
  type WrittenText,
} from '../server-draft.ts';
import { child, entryOf, lineAt, type SourceNode } from '../source-tree.ts';
import { textAt, textsAt } from '../texts.ts';
import { warnForeignVariables } from '../written-texts.ts';
import { type ClientFormat, ignored, readClientFile, warning } from './client-file.ts';
import { readApprovals } from './codex-approvals.ts';
import type { Reader, Reading } from './reader.ts';

/** Codex's settings of a project, of which the servers are one part. Its texts hold no variables; keys name them. */
export const codexToml: Reader = {
  place: { file: '.codex/config.toml' },
  grammar: literalGrammar,
  workspaceNames: [],
  restricts: false,
  sayVariable: (name) => `Name ${name} in "env_vars", "env_http_headers" or "bearer_token_env_var"`,
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

function read(root: SourceNode, file: string): Reading {
  const reading = readClientFile(root, file, format);
  if (reading.kind !== 'read') return reading;
  const fix = 'Name the variable in "env_vars", "env_http_headers" or "bearer_token_env_var".';
  const servers = reading.content.servers.map((draft) => warnForeignVariables(draft, 'Codex', fix));
  return { kind: 'read', content: { ...reading.content, servers } };
}

/** What Codex itself refuses or does not see. */
function findMisplaced(node: SourceNode, findings: Finding[], place: ServerPlace): void {
  const add = (key: string, message: string, fix: string, severity: Finding['severity'] = 'warning'): void => {
    if (child(node, key) === undefined) return;
    findings.push({ ...warning(place, key, lineAt(node, [key]), `"${key}" ${message}`, fix), severity });
  };
  add('headers', 'is not read, because Codex calls it "http_headers"', 'Rename it to "http_headers".');
  const fix = 'Put the token into a variable, and name that one in "bearer_token_env_var".';
  add('bearer_token', 'is a secret in the file, which Codex does not take', fix, 'error');
  if (child(node, 'command') === undefined) add('env_vars', 'means nothing for an http server', 'Remove it.');
  else
    for (const key of ['bearer_token_env_var', 'env_http_headers'])
      add(key, 'means nothing for a program', 'Remove it.');
}

function completeTransport(transport: TransportDraft, node: SourceNode): TransportDraft {
  return isProgram(transport)
    ? { ...transport, env: new Map([...passedOn(node), ...transport.env]) }
    : { ...transport, headers: new Map([...transport.headers, ...headersFromVariables(node)]) };
}

/** Codex hands these over where they are set. */
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
  const parts: TemplatePart[] = [
    { kind: 'literal', text: 'Bearer ' },
    { kind: 'required', name: bearer.value.text },
  ];
  return [...found, ['Authorization', fromVariable(at, parts)]];
}

function fromVariable(at: Omit<WrittenText, 'text'>, parts: readonly TemplatePart[]): WrittenText {
  return { ...at, text: '', template: { kind: 'template', parts } };
}
