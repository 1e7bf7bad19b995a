import { Command } from 'commander';
import { HubError } from '../../../../base/index.ts';
import type { PresetFile } from '../../../../workspace-files/index.ts';
import type { CliContext } from '../../context.ts';
import { type Invocation, readInvocation } from '../../global-options.ts';
import { helpExamples } from '../../help-examples.ts';
import type { BootstrapAnswer, PresetRow, RolesAnswer } from '../../json-shapes.ts';
import { renderTable } from '../../terminal/table.ts';

export function bootstrapCommand(cli: CliContext): Command {
  return new Command('bootstrap')
    .description('write presets (ready-made files for popular servers) into ops/adk/servers/')
    .addHelpText('after', helpExamples('qm bootstrap --list', 'qm bootstrap github notion', 'qm bootstrap --roles'))
    .argument('[preset...]', 'which (default: notion, supabase, github, obsidian)')
    .option('--force', 'replace existing files that differ')
    .option('--roles', 'add the roles of a team with their rights to quartermaster.yaml, and no presets')
    .option('--list', 'list all presets and patterns, and write nothing')
    .action((ids: string[], options: BootstrapOptions, command: Command) => {
      const invocation = readInvocation(command, cli);
      if (options.roles === true) return roles(cli, invocation, ids);
      return options.list === true ? list(cli, invocation) : bootstrap(cli, invocation, ids, options.force === true);
    });
}

interface BootstrapOptions {
  readonly force?: boolean;
  readonly list?: boolean;
  readonly roles?: boolean;
}

async function roles(cli: CliContext, { workspace, json }: Invocation, ids: readonly string[]): Promise<void> {
  const { terminal } = cli;
  if (ids.length > 0) {
    throw new HubError('USAGE', '--roles takes no presets.', { hint: 'Write the presets with a second command.' });
  }
  const { writeRoles } = await import('../../servers/write-roles.ts');
  const answer: RolesAnswer = await writeRoles(cli, workspace);
  if (json) {
    terminal.out(JSON.stringify(answer));
    return;
  }
  const { file, written, kept, missingServers } = answer;
  if (written.length > 0) terminal.say(`Added to ${file}: ${written.join(', ')}`);
  if (kept.length > 0) terminal.say(`Kept as they are: ${kept.join(', ')}`);
  if (missingServers.length > 0)
    terminal.err(`The roles name servers that are not configured: ${missingServers.join(', ')}`);
  terminal.err('Next: give an agent its role with `role: tester` in its entry, then run `qm explain`');
}

async function list({ terminal }: CliContext, { json }: Invocation): Promise<void> {
  const { presets, programOf } = await import('../../../../workspace-files/index.ts');
  const rows: PresetRow[] = presets.map((preset) => {
    const { id, kind, title, description, category, login, variables } = preset;
    const program = programOf(preset) ?? null;
    return { id, kind, title, description, category, login, program, variables: [...variables] };
  });
  if (json) {
    terminal.out(JSON.stringify(rows));
    return;
  }
  const { colours, width } = terminal;
  const lines = renderTable(
    rows,
    [
      { title: 'PRESET', text: ({ id }) => id, paint: colours.bold },
      { title: 'KIND', text: ({ kind }) => kind },
      { title: 'LOGIN', text: ({ login }) => (login.kind === 'none' ? '-' : login.kind) },
      { title: 'NEEDS', text: (row) => needs(row).join(', ') || '-' },
      { title: 'WHAT', text: ({ description }) => description },
    ],
    { colours, width },
  );
  for (const line of lines) terminal.out(line);
  terminal.err('\nBrowser logins are not supported yet: set the token that `qm bootstrap` names.');
  terminal.err('Next: `qm bootstrap PRESET…`, or `qm add NAME --preset PRESET` under a name of your own');
}

function needs({ program, variables }: PresetRow): string[] {
  const names = variables.filter((each) => each.required).map(({ name }) => name);
  return program === null ? names : [program, ...names];
}

async function bootstrap(
  cli: CliContext,
  { workspace, json }: Invocation,
  ids: readonly string[],
  force: boolean,
): Promise<void> {
  const { writePresets } = await import('../../servers/write-presets.ts');
  const { suggestRoutes } = await import('../../../../workspace-files/index.ts');
  const { files, written } = await writePresets(cli, workspace, ids, force);
  const answer: BootstrapAnswer = {
    written,
    files: files.map(({ preset, file, state }) => ({ preset: preset.id, file, state: word(state, written) })),
    variables: files.flatMap(({ preset }) => [...preset.variables]),
    routes: suggestRoutes(files.map(({ preset }) => preset)),
  };
  if (!written) cli.exitWith(1);
  if (json) {
    cli.terminal.out(JSON.stringify(answer));
    return;
  }
  print(cli, answer);
  if (!written) return;
  sayVariables(cli, files);
  sayRoutes(cli, answer);
  await sayNext(cli, workspace, files);
}

type Word = BootstrapAnswer['files'][number]['state'];

function word(state: PresetFile['state'], written: boolean): Word {
  if (state === 'unchanged' || state === 'link') return state;
  if (!written) return state === 'new' ? 'not-written' : state;
  return state === 'new' ? 'written' : 'replaced';
}

function print({ terminal }: CliContext, { files, written }: BootstrapAnswer): void {
  const { colours, errColours, width } = terminal;
  const paint = (text: string, { state }: { readonly state: Word }): string =>
    state === 'differs' || state === 'link' ? colours.red(text) : colours.green(text);
  const lines = renderTable(
    files,
    [
      { title: '', text: ({ state }) => state.replace('-', ' '), paint },
      { title: '', text: ({ file }) => file },
    ],
    { colours, width, titles: false },
  );
  for (const line of lines) terminal.out(line);
  if (written) return;
  const named = (state: Word): string => files.flatMap((each) => (each.state === state ? [each.file] : [])).join(', ');
  const say = (text: string): void => terminal.err(`${errColours.red('qm:')} ${text} Nothing was written.`);
  if (named('link') !== '') say(`A link stands in place of ${named('link')}; remove it, or name other presets.`);
  else say(`A file differs from its preset: ${named('differs')}. Name other presets, or replace it with --force.`);
}

function sayVariables({ terminal }: CliContext, files: readonly PresetFile[]): void {
  const variables = files.flatMap(({ preset }) => preset.variables.map((each) => ({ ...each, id: preset.id })));
  if (variables.length === 0) return;
  terminal.err('\nVariables to set in .env or in the environment of the hub:');
  const { errColours } = terminal;
  const lines = renderTable(
    variables,
    [
      { title: '', text: ({ name }) => name, paint: (text, each) => (each.required ? errColours.bold(text) : text) },
      { title: '', text: ({ id }) => id },
      { title: '', text: (each) => (each.required ? 'needed' : 'optional') },
      { title: '', text: ({ purpose }) => purpose, paint: errColours.dim },
    ],
    { colours: errColours, width: terminal.errIsTerminal ? terminal.size().columns - 2 : undefined, titles: false },
  );
  for (const line of lines) terminal.errWhole(`  ${line}`);
}

function sayRoutes({ terminal }: CliContext, { routes }: BootstrapAnswer): void {
  terminal.err('\nSuggested routes for quartermaster.yaml; without routes, every agent gets everything:');
  for (const line of ['', ...routes.trimEnd().split('\n')]) terminal.errWhole(line);
}

async function sayNext(cli: CliContext, workspace: string, files: readonly PresetFile[]): Promise<void> {
  const { terminal } = cli;
  const { nextCommand } = await import('../../next-command.ts');
  const [{ findHiders }, { bold, yellow }] = [await import('../../servers/write-presets.ts'), terminal.errColours];
  const { needSync, hidden } = await findHiders(cli, workspace, files);
  for (const { file, by } of hidden) terminal.err(`${yellow('warning')} ${file} has no effect: ${by} hides it.`);
  if (needSync) terminal.err(`\nNext: ${bold(nextCommand(cli, workspace, 'sync'))}, then ${bold('qm doctor')}`);
  else terminal.err(`\nNext: ${bold(nextCommand(cli, workspace, 'doctor'))}`);
}
