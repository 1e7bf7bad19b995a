import type { Problem } from '../domain/index.ts';

/** A problem without its file. The reader of the file adds it. */
export interface Finding {
  readonly severity: Problem['severity'];
  readonly line?: number | undefined;
  readonly field?: string | undefined;
  readonly server?: string | undefined;
  readonly agent?: string | undefined;
  readonly message: string;
  readonly fix?: string | undefined;
}

export function toProblem(file: string, finding: Finding): Problem {
  return {
    severity: finding.severity,
    file,
    ...(finding.line === undefined ? {} : { line: finding.line }),
    ...(finding.field === undefined ? {} : { field: finding.field }),
    ...(finding.server === undefined ? {} : { server: finding.server }),
    ...(finding.agent === undefined ? {} : { agent: finding.agent }),
    message: finding.message,
    ...(finding.fix === undefined ? {} : { fix: finding.fix }),
  };
}

export function hasError(findings: readonly Finding[]): boolean {
  return findings.some((finding) => finding.severity === 'error');
}

/** A name from a file, safe to print: quoted, on one line, truncated. */
export function quote(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
}

/** A path within a file. Empty for the top level. */
export function dotted(...steps: readonly PropertyKey[]): string {
  return steps
    .map(String)
    .filter((step) => step !== '')
    .join('.');
}
