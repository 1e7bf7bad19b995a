/** Text exposition of Prometheus, version 0.0.4. */
export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  /** Of a histogram's series: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string;
  readonly labels: Labels;
  readonly value: number;
}

export type Labels = Readonly<Record<string, string>>;

export function expositionText(families: readonly Family[]): string {
  return families.map(familyText).join('');
}

function familyText({ name, type, help, samples }: Family): string {
  const head = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
  return head + samples.map((sample) => sampleText(name, sample)).join('');
}

function sampleText(name: string, { suffix = '', labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${metricNumber(value)}\n`;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}

/** As Go reads numbers: it has no word "Infinity". */
export function metricNumber(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
