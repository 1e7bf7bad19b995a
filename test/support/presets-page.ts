import type { Preset } from '../../src/workspace-files/index.ts';

/** docs/presets.md as it follows from the gallery. */
export function renderPresetsPage(presets: readonly Preset[]): string {
  const ofKind = (kind: Preset['kind']): Preset[] => presets.filter((each) => each.kind === kind);
  return `# Presets and patterns

Servers that many teams want, ready to be written into a workspace. Generated from the gallery in
\`src/workspace-files/presets/\` by \`npm run docs:env\`; do not edit.

- \`qm bootstrap --list\` shows them; \`qm bootstrap ID\` writes \`ops/adk/servers/ID.yaml\`, and says which variables it takes
  and which routes fit; \`qm add NAME --preset ID\` puts the same server into \`quartermaster.yaml\` under a name of your own.
- Variables go into \`.env\` or into the environment of the hub; \`.env.example\` of Quartermaster's own folder has all of them. A server without a
  variable that it needs is invalid and says which; the others work.
- A **preset** works as it is written. A **pattern** is for a service that each team runs or rents in its own way: its file is
  where to begin.
- **Login** \`browser\` means that the provider expects a person to log in. There is no command for that yet: set the token in
  its place.
- **Routes** are suggestions for the roles of a team: all tools, the tools that are named, or nothing.
- **Limits** are calls in a minute, where there is a limit, and the seconds that a call may stay silent.

What our tests run for real: the servers that come with the hub, and the npm packages of \`filesystem\` and \`memory\`. The
arguments, variables and tools of \`azure-devops\`, \`mongodb\` and \`playwright\` are those of the pinned packages, which were
looked into; \`mcp-obsidian\` is not pinned, and its tools are the documented ones. The hosted services (\`notion\`, \`supabase\`,
\`github\`, \`linear\`, \`confluence\`) are **not reached by our tests**: their addresses and tools are from their public
documentation, and their behaviour is played by a fixture. For \`trello\`, \`slack\` and \`discord\` there is no address to give.

## Presets

${ofKind('preset').map(renderEntry).join('\n\n')}

## Patterns

${ofKind('pattern').map(renderEntry).join('\n\n')}
`;
}

function renderEntry(preset: Preset): string {
  const facts = [
    ['reached by', [preset.transport, ...preset.fallback].map(reachedBy).join(', else ')],
    ['login', loginOf(preset)],
    ['scopes', preset.scopes.map(code).join(' ')],
    ['guards', guardsOf(preset).join('; ')],
    ['offers only', (preset.tools ?? []).map(code).join(' ')],
    ['limits', limitsOf(preset)],
    ['while it is away', preset.instead],
    ...preset.variables.map(({ name, required, purpose }) => [
      code(name),
      `${required ? '**needed**' : 'optional'}: ${purpose}`,
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
    ...(guards.writeRequiresApproval === true ? ['writing asks a human first'] : []),
  ];
}

function limitsOf({ limits: { ratePerMin, timeoutS } }: Preset): string {
  return ratePerMin === undefined ? `${timeoutS} s` : `${ratePerMin} a minute, ${timeoutS} s`;
}

/** Roles with the same route stand together. */
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
