import {
  type Preset,
  type PresetLogin,
  type PresetRole,
  type PresetRoute,
  type PresetTransport,
  type PresetVariable,
  presetRoles,
} from './preset.ts';

/** The same route for every role that is not named. */
export function routeTo(
  named: Partial<Readonly<Record<PresetRole, PresetRoute>>>,
  others: PresetRoute,
): Preset['routes'] {
  // Every role is there, by the list that the type is made of.
  return Object.fromEntries(presetRoles.map((role) => [role, named[role] ?? others])) as Preset['routes'];
}

export function required(name: string, purpose: string): PresetVariable {
  return { name, required: true, purpose };
}

export function optional(name: string, purpose: string): PresetVariable {
  return { name, required: false, purpose };
}

/** Left out while the variable is not set: then the server asks for a login. */
export function bearer(variable: string): Readonly<Record<string, string>> {
  return { Authorization: `\${${variable}:+Bearer \${${variable}}}` };
}

export const noLogin: PresetLogin = { kind: 'none', variable: null };

/** A server that each team runs or rents for itself. */
export function atOwnAddress(address: string, secret: string): PresetTransport {
  return { type: 'http', url: `\${${address}}`, headers: { Authorization: `Bearer \${${secret}}` } };
}
