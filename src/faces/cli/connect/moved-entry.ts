// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import type { ServerPlan, ServerSpec } from '../../../domain/index.ts';
import type { Plain } from '../../../workspace-files/index.ts';

/**
 * A server of any file as an entry of quartermaster.yaml. The caller loads the result: what cannot be expressed there
 * makes a difference then.
 */
export function movedEntry({ transports }: ServerPlan, spec: ServerSpec): Readonly<Record<string, Plain>> | undefined {
  const [first, ...more] = transports;
  if (first === undefined || more.length > 0) return undefined;
  const { description, tools, limits } = spec;
  return {
    ...(first.type === 'sse' ? { type: 'sse' } : {}),
    ...transportEntry(first.texts),
    ...(description === undefined ? {} : { description }),
    ...(tools.include === undefined ? {} : { tools: [...tools.include] }),
    ...(tools.exclude === undefined ? {} : { excludeTools: [...tools.exclude] }),
    ...(limits.timeoutMs === usualTimeoutMs ? {} : { limits: limitsEntry(limits) }),
  };
}

const usualTimeoutMs = 60_000;

/** A client's file has no other limit than the timeout. */
function limitsEntry({ timeoutMs }: ServerSpec['limits']): Plain {
  return { timeout_s: timeoutMs / 1000 };
}

/** From `['args.0', '-y']` and the like to `args: ['-y']`. */
function transportEntry(texts: ServerPlan['transports'][number]['texts']): Record<string, Plain> {
  const entry: Record<string, Plain> = {};
  const args: string[] = [];
  const groups = { env: new Map<string, string>(), headers: new Map<string, string>() };
  for (const [field, written] of texts) {
    const text = inWorkspaceTerms(written);
    const [group = '', ...rest] = field.split('.');
    if (group === 'args') args.push(text);
    else if (group === 'env' || group === 'headers') groups[group].set(rest.join('.'), text);
    // The hub adds this by itself.
    else if (group !== 'ignores') entry[group] = text;
  }
  return {
    ...entry,
    ...(args.length === 0 ? {} : { args }),
    ...(groups.env.size === 0 ? {} : { env: Object.fromEntries(groups.env) }),
    ...(groups.headers.size === 0 ? {} : { headers: Object.fromEntries(groups.headers) }),
  };
}

/** Clients have names of their own for the workspace. */
function inWorkspaceTerms(text: string): string {
  return text.replace(/\$\{(?:workspaceFolder|CLAUDE_PROJECT_DIR)\}/g, '${WORKSPACE_ROOT}');
}
