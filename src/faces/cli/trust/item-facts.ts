import { packageRunner, placeOf, type ServerPlan, type TransportPlan } from '../../../domain/index.ts';
import type { ServerItem } from '../../../trust/index.ts';
import { isLoaderVariable } from './loader-variables.ts';

/** One line of a plan; the lines about one transport follow its command or address, indented. */
export interface PlanLine {
  readonly depth: 0 | 1;
  readonly text: string;
}

type Masking = (text: string) => string;

/** Everything that would be started or contacted, for a person: what is not shown is not approved knowingly. */
export function planFacts({ transports }: ServerPlan, mask: Masking): readonly PlanLine[] {
  return transports.flatMap((transport, index) => {
    const summary = transportSummary(transport, mask);
    return [
      { depth: 0, text: index === 0 ? summary : `if that fails: ${summary}` } as const,
      ...transport.texts
        .filter(([field]) => /^(?:cwd$|env\.|headers\.)/.test(field))
        .map(([field, text]): PlanLine => ({ depth: 1, text: cutInMiddle(mask(`${field}: ${text}`)) })),
    ];
  });
}

/** The program with its arguments, or the address, on one line. */
function transportSummary({ type, texts }: TransportPlan, mask: Masking): string {
  const named = (prefix: string): string[] =>
    texts.flatMap(([field, text]) =>
      field === prefix || field.startsWith(`${prefix}.`) ? [word(cutInMiddle(mask(text)))] : [],
    );
  if (type === 'builtin') return ['built-in', ...named('builtin'), ...named('args')].join(' ');
  return type === 'stdio' ? [...named('command'), ...named('args')].join(' ') : named('url').join(' ');
}

function word(text: string): string {
  return text === '' || /\s/.test(text) ? JSON.stringify(text) : text;
}

/** Whether the mask hides a part of what would be started or contacted. */
export function isMasked({ transports }: ServerPlan, mask: Masking): boolean {
  return transports.some(({ texts }) =>
    texts.some(([field, text]) => /^(?:command|args|url|cwd)\b/.test(field) && mask(text) !== text),
  );
}

const maxCharacters = 400;

/** Cut in the middle: the end of a command line matters as much as its beginning. */
export function cutInMiddle(text: string): string {
  if (text.length <= maxCharacters) return text;
  const half = maxCharacters / 2;
  return `${text.slice(0, half)} … (${text.length - maxCharacters} more characters) … ${text.slice(-half)}`;
}

/** What a person should know before approving, one remark each. */
export function planRemarks({ plan, spec }: ServerItem): readonly string[] {
  const variables = variablesOf(plan);
  const runner = packageRunner(spec);
  const loaders = loaderVariables(plan);
  return [
    ...(runner === undefined ? [] : [`downloads and runs a package (${runner})`]),
    ...(loaders.length === 0
      ? []
      : [`sets ${loaders.join(', ')}, which can make it load other code or contact other places`]),
    ...(variables.length === 0
      ? []
      : [`receives the ${variables.length === 1 ? 'value' : 'values'} of ${variables.join(', ')}`]),
    ...(plan.values.size === 0
      ? []
      : [`receives values from this workspace's files: ${[...plan.values.keys()].join(', ')}`]),
    ...plan.reaches.map((place) => `may reach ${place}`),
    ...(spec.roots === 'client' ? ['receives the folders that its clients name as roots, within this workspace'] : []),
    ...(spec.access.trustAnnotations ? ['says itself which of its tools only read, and is believed'] : []),
    ...(runsWorkspaceCode(plan)
      ? ['runs code of this workspace: whoever can change that code has its rights']
      : plan.transports.some(ignoresModules)
        ? ['takes modules of this workspace if its Python is older than 3.11']
        : []),
    ...(isCut(plan) ? ['is shown in part; `qm trust --show --json` has all of it'] : []),
  ];
}

/** The variables whose values the server gets, apart from those that only say where the workspace is. */
function variablesOf({ transports, values }: ServerPlan): readonly string[] {
  const names = new Set(transports.flatMap(({ variables }) => variables));
  return [...names].filter((name) => !values.has(name) && !plainVariables.has(name));
}

const plainVariables: ReadonlySet<string> = new Set([
  'WORKSPACE_ROOT',
  'SQUAD_ROOT',
  'CLAUDE_PROJECT_DIR',
  'extensionPath',
  'workspaceFolder',
  'workspaceFolderBasename',
  'workspacePath',
]);

function loaderVariables({ transports, values }: ServerPlan): readonly string[] {
  const fields = [...transports.flatMap(({ texts }) => texts.map(([field]) => field)), ...values.keys()];
  const names = fields.flatMap((field) => (field.startsWith('env.') ? [field.slice('env.'.length)] : []));
  return [...new Set(names)].filter(isLoaderVariable);
}

function ignoresModules({ texts }: TransportPlan): boolean {
  return texts.some(([field, text]) => field === 'ignores' && text.startsWith('Python'));
}

function isCut({ transports }: ServerPlan): boolean {
  return transports.some(({ texts }) => texts.some(([, text]) => text.length > maxCharacters));
}

/** Whether files of the workspace decide what the program does. */
export function runsWorkspaceCode({ files, transports }: ServerPlan): boolean {
  return files.some(({ kind }) => kind !== 'absent') || transports.some(({ runsFolderCode }) => runsFolderCode);
}

export function itemPlace({ spec }: ServerItem): string {
  return placeOf(spec.source);
}
