import {
  type Preset,
  type PresetLogin,
  type PresetRole,
  type PresetRoute,
  type PresetTransport,
  type PresetVariable,
  presetRoles,
} from './preset.ts';

/** Gives `others` to every role that is not named. */
export function routeTo(
  named: Partial<Readonly<Record<PresetRole, PresetRoute>>>,
  others: PresetRoute,
): Preset['routes'] {
  // Complete, because the type is derived from the same list.
  return Object.fromEntries(presetRoles.map((role) => [role, named[role] ?? others])) as Preset['routes'];
}

export function required(name: string, purpose: string): PresetVariable {
  return { name, required: true, purpose };
}

export function optional(name: string, purpose: string): PresetVariable {
  return { name, required: false, purpose };
}

/** Empty while the variable is unset; then the server asks for a login. */
export function bearer(variable: string): Readonly<Record<string, string>> {
  return { Authorization: `\${${variable}:+Bearer \${${variable}}}` };
}

export const noLogin: PresetLogin = { kind: 'none', variable: null };

/** For a server that each team runs or rents itself. */
export function atOwnAddress(address: string, secret: string): PresetTransport {
  return { type: 'http', url: `\${${address}}`, headers: { Authorization: `Bearer \${${secret}}` } };
}
