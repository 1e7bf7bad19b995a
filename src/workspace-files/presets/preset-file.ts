import { type Plain, renderYaml } from '../text/render-member.ts';
import type { Preset, PresetTransport } from './preset.ts';

/** A preset as a file of `ops/adk/servers/`. */
export function presetText(preset: Preset): string {
  const { scopes, guards } = preset;
  const approval = guards.writeRequiresApproval;
  const permissions = present({
    scope: scopes.length === 0 ? undefined : scopes,
    write_requires_approval: approval,
  });
  return renderYaml(
    present({
      id: preset.id,
      version: '1',
      description: preset.description,
      transport: transportOf(preset.transport),
      fallback: preset.fallback.length === 0 ? undefined : preset.fallback.map(transportOf),
      permissions: Object.keys(permissions).length === 0 ? undefined : permissions,
      options: guards.readOnly === undefined ? undefined : { read_only: guards.readOnly },
      tools: preset.tools,
      limits: limitsOf(preset),
      instead: preset.instead,
      notes: preset.notes,
    }),
  );
}

/** The same server in the format of quartermaster.yaml. */
export function presetServer(preset: Preset): Record<string, Plain> {
  const { scopes, guards } = preset;
  return present({
    description: preset.description,
    ...transportOf(preset.transport),
    fallback: preset.fallback.length === 0 ? undefined : preset.fallback.map(transportOf),
    tools: preset.tools,
    scopes: scopes.length === 0 ? undefined : scopes,
    // This format takes no variable here, so the guard is always on.
    readOnly: guards.readOnly === undefined ? undefined : true,
    writeRequiresApproval: guards.writeRequiresApproval,
    limits: limitsOf(preset),
    instead: preset.instead,
  });
}

function transportOf(transport: PresetTransport): Record<string, Plain> {
  // The name of the built-in implies the transport type.
  if (transport.type === 'builtin') {
    const { builtin, args, env } = transport;
    return present({ builtin, args, env });
  }
  return present({ ...transport });
}

function limitsOf({ limits: { ratePerMin, timeoutS } }: Preset): Record<string, Plain> {
  return present({ rate_per_min: ratePerMin, timeout_s: timeoutS });
}

function present(entries: Readonly<Record<string, Plain | undefined>>): Record<string, Plain> {
  const given: Record<string, Plain> = {};
  for (const [key, value] of Object.entries(entries)) if (value !== undefined) given[key] = value;
  return given;
}
