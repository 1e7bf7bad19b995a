import { parse } from 'yaml';
import { isJsonObject } from '../base/index.ts';
import type { Preset } from './presets.ts';
import type { Plain } from './render-member.ts';

/** The server of a preset in the words of quartermaster.yaml. */
export function presetServer({ text }: Preset): Record<string, Plain> {
  const source: unknown = parse(text);
  if (!isJsonObject(source)) throw new Error('a preset is a map');
  const permissions = isJsonObject(source.permissions) ? source.permissions : {};
  const options = isJsonObject(source.options) ? source.options : {};
  const transport = isJsonObject(source.transport) ? source.transport : {};
  const server = {
    description: source.description,
    ...transport,
    fallback: source.fallback,
    scopes: permissions.scope,
    // Here it cannot hang on a variable, so the guard is up.
    readOnly: options.read_only === undefined ? undefined : true,
    writeRequiresApproval: permissions.write_requires_approval,
    limits: source.limits,
  };
  const present = Object.entries(server).filter(([, value]) => value !== undefined);
  // Presets are ours, and hold nothing but plain values.
  return Object.fromEntries(present) as Record<string, Plain>;
}
