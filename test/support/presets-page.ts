import type { Preset } from '../../src/workspace-files/index.ts';

/** Generates docs/presets.md from the presets. */
export function renderPresetsPage(presets: readonly Preset[]): string {
  const ofKind = (kind: Preset['kind']): Preset[] => presets.filter((each) => each.kind === kind);
  return `# Presets and patterns

Ready-made entries for popular servers. Generated from
\`src/workspace-files/presets/\` by \`npm run docs:env\`; do not edit.

- \`qm bootstrap --list\` lists them. \`qm bootstrap ID\` writes \`ops/adk/servers/ID.yaml\` and prints its variables and
  suggested routes. \`qm add NAME --preset ID\` adds the same server to \`quartermaster.yaml\` under your own name.
- Set variables in \`.env\` or in the environment of the hub; Quartermaster's \`.env.example\` lists all of them. A server is
  invalid until its required variables are set; the others work.
- A **preset** works as it is. A **pattern** is a starting point for a service that each team runs in its own way.
- **Login** \`browser\` means that the provider expects a person to log in. The hub does not support that yet: set the token
  instead.
- **Routes** are suggestions for the roles of a team: all tools, the listed tools, or nothing.
- **Limits** are calls per minute, if limited, and the seconds that a call may stay silent.

Our tests run the built-in servers and the npm packages of \`filesystem\` and \`memory\`. The arguments, variables and tools of
\`azure-devops\`, \`mongodb\` and \`playwright\` come from the pinned packages. \`mcp-obsidian\` is not pinned; its tools come
from its documentation. Our tests do **not** reach the hosted services (\`notion\`, \`supabase\`, \`github\`, \`linear\`,
\`confluence\`): their addresses and tools come from their public documentation, and a fixture stands in for them.
\`trello\`, \`slack\` and \`discord\` have no public address, so you provide one.

## Presets

${ofKind('preset').map(renderEntry).join('\n\n')}

## Patterns

${ofKind('pattern').map(renderEntry).join('\n\n')}
`;
}

function renderEntry(preset: Preset): string {
  const facts = [
    ['transport', [preset.transport, ...preset.fallback].map(reachedBy).join(', otherwise ')],
    ['login', loginOf(preset)],
    ['scopes', preset.scopes.map(code).join(' ')],
    ['restrictions', guardsOf(preset).join('; ')],
    ['tools', (preset.tools ?? []).map(code).join(' ')],
    ['limits', limitsOf(preset)],
    ['while it is unavailable', preset.instead],
    ...preset.variables.map(({ name, required, purpose }) => [
      code(name),
      `${required ? '**required**' : 'optional'}: ${purpose}`,
    ]),
    ...routesOf(preset).map(([route, roles]) => [`route ${roles.join(', ')}`, route]),
  ].filter(([, text]) => text !== '');
  return `### ${preset.id}
${preset.title} (${preset.category}). ${preset.description}. ${preset.notes}

| | |
|---|---|
${facts.map(([name, text]) => `| ${name} | ${text} |`).join('\n')}`;
}

function reachedBy(transport: Preset['transport']): string {
  if (transport.type === 'builtin') return code(['builtin:', transport.builtin, ...(transport.args ?? [])].join(' '));
  if (transport.type === 'stdio') return code([transport.command, ...transport.args].join(' '));
  return `${transport.type} ${code(transport.url)}`;
}

function loginOf({ login }: Preset): string {
  if (login.variable === null) return '';
  return login.kind === 'browser'
    ? `browser, or a token in ${code(login.variable)}`
    : `${login.kind} in ${code(login.variable)}`;
}

function guardsOf({ guards }: Preset): string[] {
  return [
    ...(guards.readOnly === undefined ? [] : [`read-only: ${code(guards.readOnly)}`]),
    ...(guards.writeRequiresApproval === true ? ['writing requires approval'] : []),
  ];
}

function limitsOf({ limits: { ratePerMin, timeoutS } }: Preset): string {
  return ratePerMin === undefined ? `${timeoutS} s` : `${ratePerMin} per minute, ${timeoutS} s`;
}

/** Groups roles with the same route. */
function routesOf({ routes }: Preset): [string, string[]][] {
  const grouped = new Map<string, string[]>();
  for (const [role, route] of Object.entries(routes)) {
    const text = route === 'all' ? 'all tools' : route === 'none' ? 'nothing' : route.map(code).join(' ');
    grouped.set(text, [...(grouped.get(text) ?? []), role]);
  }
  return [...grouped];
}

function code(text: string): string {
  return `\`${text}\``;
}
