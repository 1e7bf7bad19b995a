/** Parses the Prometheus text format 0.0.4 and rejects any deviation from it. */
export interface ReadFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: ReadSample[];
}

export interface ReadSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function readMetrics(text: string): Map<string, ReadFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, ReadFamily>();
  const seen = new Set<string>();
  let help: { readonly name: string; readonly text: string } | undefined;
  let open: { readonly name: string; readonly family: ReadFamily } | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) ([a-z_:][a-z0-9_:]*) (.*)$/i.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (families.has(name)) throw new Error(`${name} comes twice`);
      help = { name, text: unescaped(rest) };
    } else if (keyword === 'TYPE') {
      if (help?.name !== name) throw new Error(`no help for ${name}`);
      open = { name, family: { type: rest, help: help.text, samples: [] } };
      families.set(name, open.family);
    } else {
      const sample = readSample(line);
      if (open === undefined || !belongs(sample.name, open.name, open.family.type)) throw new Error(`stray: ${line}`);
      const series = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (seen.has(series)) throw new Error(`twice: ${line}`);
      seen.add(series);
      open.family.samples.push(sample);
    }
  }
  return families;
}

/** The value of the only series with this name and these labels. */
export function seriesValue(
  text: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const all = [...readMetrics(text).values()].flatMap(({ samples }) => samples);
  const wanted = Object.entries(labels);
  const found = all.filter(
    (sample) => sample.name === name && wanted.every(([key, value]) => sample.labels[key] === value),
  );
  if (found.length > 1) throw new Error(`${name} ${JSON.stringify(labels)} is ${found.length} series`);
  return found[0]?.value;
}

function belongs(sample: string, family: string, type: string): boolean {
  if (type !== 'histogram') return sample === family;
  return ['_bucket', '_sum', '_count'].some((suffix) => sample === family + suffix);
}

function readSample(line: string): ReadSample {
  const [, name, inside, number] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined || number === undefined) throw new Error(`not a sample: ${line}`);
  const labels: Record<string, string> = {};
  let left = inside ?? '';
  while (left !== '') {
    const [whole, label, value] =
      /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,(?=[a-zA-Z_])|$)/.exec(left) ?? [];
    if (whole === undefined || label === undefined || value === undefined || label in labels) {
      throw new Error(`not labels: ${line}`);
    }
    labels[label] = unescaped(value);
    left = left.slice(whole.length);
  }
  return { name, labels, value: readNumber(number) };
}

function unescaped(text: string): string {
  return text.replace(/\\(["\\n])/g, (_, character: string) => (character === 'n' ? '\n' : character));
}

function readNumber(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  if (text === '-Inf') return Number.NEGATIVE_INFINITY;
  if (text === 'NaN') return Number.NaN;
  if (!/^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(text)) throw new Error(`not a number: ${text}`);
  return Number(text);
}
