import { isJsonObject } from '../../../base/index.ts';
import { isModernVersion } from '../../../mcp/index.ts';
import { argumentsOf, signatureOf, type ToolArgument } from '../agents/tool-signature.ts';
import { printable, printableLine } from '../terminal/printable.ts';
import { cutWords } from '../terminal/table.ts';
import { hang, wrap } from '../terminal/wrap.ts';
import type { InspectAnswer } from './diagnosis-shapes.ts';
import type { DoctorPage } from './doctor-lines.ts';

type Listed = Readonly<Record<string, unknown>>;

/** Everything a server reports about itself. Long descriptions are cut here, and complete with `--tool`. */
export function inspectionLines(answer: InspectAnswer, page: DoctorPage): string[] {
  return [
    ...headLines(answer, page),
    ...section('tool', answer.tools, page, (tool) => toolLines(tool, page, briefly(page))),
    ...section('resource', answer.resources, page, (resource) =>
      itemLines(resource, textOf(resource.uri), seenAs(answer, 'resource', resource.uri), page),
    ),
    ...section('resource template', answer.resourceTemplates, page, (template) =>
      itemLines(template, textOf(template.uriTemplate), seenAs(answer, 'template', template.uriTemplate), page),
    ),
    ...section('prompt', answer.prompts, page, (prompt) =>
      promptLines(prompt, seenAs(answer, 'prompt', prompt.name), page),
    ),
  ];
}

/** The name agents see, if it differs from the server's own. */
function seenAs({ exposed }: InspectAnswer, kind: string, own: unknown): string[] {
  const found = exposed.find((each) => each.kind === kind && each.own === own);
  return found === undefined ? [] : [`  agents see ${printableLine(found.name)}`];
}

/** One tool with its complete schemas. */
export function toolPage(tool: Listed, page: DoctorPage): string[] {
  const { colours } = page;
  const schemas = [
    ['Input schema', tool.inputSchema],
    ['Output schema', tool.outputSchema],
    ['Annotations', tool.annotations],
  ] as const;
  return [
    ...toolLines(tool, page, undefined),
    ...schemas.flatMap(([title, value]) =>
      value === undefined
        ? []
        : ['', colours.bold(title), ...printable(JSON.stringify(value, undefined, 2)).split('\n')],
    ),
  ];
}

function headLines(answer: InspectAnswer, { colours, width }: DoctorPage): string[] {
  const { serverInfo, instructions } = answer;
  const says =
    serverInfo === null ? 'does not say what it is' : `${serverInfo.title ?? serverInfo.name} ${serverInfo.version}`;
  const facts: readonly (readonly [string, string])[] = [
    ...(answer.source === null ? [] : [['configured', answer.source] as const]),
    ['transport', answer.transport],
    ['protocol', `MCP ${answer.protocolVersion}`],
    ['can', capabilityText(answer.capabilities)],
    ['isolation', isolationText(answer)],
    ...notOfferedTexts(answer).map((text) => ['not offered', text] as const),
    ...(instructions === null ? [] : [['instructions', shortened(instructions, 400)] as const]),
  ];
  return [
    `${colours.bold(answer.name)}  ${printableLine(says)}`,
    ...facts.flatMap(([title, text]) => {
      const [first = '', ...rest] = hang(`  ${title.padEnd(13)}`, printableLine(text), width);
      return [`  ${colours.dim(title.padEnd(13))}${first.slice(15)}`, ...rest];
    }),
    ...answer.warnings.flatMap((warning) => hang('  warning ', printableLine(warning), width).map(colours.yellow)),
  ];
}

function isolationText({ isolation, protocolVersion }: InspectAnswer): string {
  switch (isolation) {
    case 'shared':
      return isModernVersion(protocolVersion)
        ? 'shared: one connection for all; what it asks comes with the answer to each request'
        : 'shared: one connection for all';
    case 'per-agent':
      return 'per-agent: a connection for each agent';
    case 'per-session':
      return 'per-session: a connection for each client session';
  }
}

function notOfferedTexts({ notOffered, roots }: InspectAnswer): string[] {
  const shared = notOffered.filter((feature) => feature !== 'roots' || roots === 'client');
  return [
    ...(shared.length === 0
      ? []
      : [
          `${shared.join(', ')}: clients share the connection, and the server cannot tell them apart; set isolation: per-session`,
        ]),
    ...(roots === 'client' ? [] : ['roots: it gets no folders of its clients; set roots: client']),
  ];
}

/** `tools (listChanged), logging`. */
function capabilityText(capabilities: Listed): string {
  const all = Object.entries(capabilities).map(([name, value]) => {
    const details = isJsonObject(value) ? Object.keys(value).filter((key) => value[key] === true) : [];
    return details.length === 0 ? name : `${name} (${details.join(', ')})`;
  });
  return all.length === 0 ? 'nothing, as it says' : all.join(', ');
}

function section(
  thing: string,
  items: readonly Listed[],
  { colours }: DoctorPage,
  linesOf: (item: Listed) => readonly string[],
): string[] {
  if (items.length === 0) return [];
  const title = items.length === 1 ? `1 ${thing}` : `${items.length} ${thing}s`;
  return ['', colours.cyan(title), ...items.flatMap((item) => linesOf(item).map((line) => `  ${line}`))];
}

/** Two lines of text on a terminal. */
function briefly({ width }: DoctorPage): number {
  return width === undefined ? 200 : Math.max(60, (width - 6) * 2);
}

function toolLines(tool: Listed, page: DoctorPage, most: number | undefined): string[] {
  const { colours } = page;
  const args = argumentsOf(tool.inputSchema);
  const hints = hintText(tool.annotations);
  const name = printableLine(textOf(tool.name));
  const [first = '', ...rest] = hang('', printableLine(signatureOf(name, args)), roomIn(page, 2));
  const signature = [
    `${colours.bold(first.slice(0, name.length))}${first.slice(name.length)}`,
    ...rest.map((line) => `  ${line}`),
  ];
  return [
    ...signature,
    ...(hints === '' ? [] : [`  ${colours.yellow(hints)}`]),
    ...described(tool.description, page, most),
    ...args.flatMap((argument) => argumentLines(argument, page, most)),
  ];
}

function described(description: unknown, page: DoctorPage, most: number | undefined): string[] {
  if (typeof description !== 'string' || description.trim() === '') return [];
  const text = shortened(printableLine(description), most);
  return wrap(text, roomIn(page, 4)).map((line) => `  ${page.colours.dim(line)}`);
}

function argumentLines(
  { name, type, required, description }: ToolArgument,
  page: DoctorPage,
  most: number | undefined,
): string[] {
  const head = `${printableLine(name)}${required ? '' : '?'}: ${printableLine(type)}`;
  const text = description === '' ? head : `${head}  ${shortened(printableLine(description), most)}`;
  const lines = wrap(text, roomIn(page, 8));
  return lines.map((line, index) => (index === 0 ? `    ${line}` : `      ${page.colours.dim(line)}`));
}

function itemLines(item: Listed, address: string, seen: readonly string[], page: DoctorPage): string[] {
  const kind = typeof item.mimeType === 'string' ? `  ${page.colours.dim(printableLine(item.mimeType))}` : '';
  return [
    `${page.colours.bold(printableLine(textOf(item.title ?? item.name)))}${kind}`,
    `  ${printableLine(address)}`,
    ...seen,
    ...described(item.description, page, briefly(page)),
  ];
}

function promptLines(prompt: Listed, seen: readonly string[], page: DoctorPage): string[] {
  const given = Array.isArray(prompt.arguments) ? prompt.arguments.filter(isJsonObject) : [];
  const args = given.map((argument) => ({
    name: textOf(argument.name),
    type: 'string',
    required: argument.required === true,
    description: textOf(argument.description),
  }));
  return [
    page.colours.bold(printableLine(signatureOf(textOf(prompt.name), args))),
    ...seen,
    ...described(prompt.description, page, briefly(page)),
    ...args.flatMap((argument) => argumentLines(argument, page, briefly(page))),
  ];
}

/** The tool's annotations in words; empty if it has none. */
function hintText(annotations: unknown): string {
  if (!isJsonObject(annotations)) return '';
  const words: string[] = [];
  if (annotations.readOnlyHint === false) words.push('writes');
  // For a read-only tool, `destructiveHint: false` adds nothing.
  if (annotations.readOnlyHint === true) words.push('only reads');
  else if (annotations.destructiveHint === false) words.push('destroys nothing');
  if (annotations.destructiveHint === true) words.push('may destroy');
  if (annotations.idempotentHint === true) words.push('may be repeated');
  if (annotations.openWorldHint === true) words.push('reaches outside');
  return words.length === 0 ? '' : `says that it ${words.join(', ')}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function shortened(text: string, most: number | undefined): string {
  return most === undefined ? text : cutWords(text, most);
}

function roomIn({ width }: DoctorPage, indent: number): number | undefined {
  return width === undefined ? undefined : Math.max(16, width - indent);
}
