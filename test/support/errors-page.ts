import type { ErrorRow } from '../../src/base/index.ts';

/** docs/errors.md as it follows from the table of errors. */
export function renderErrorsPage(table: Readonly<Record<string, ErrorRow>>): string {
  const entries = Object.entries(table);
  return `# Errors

Every failure that Quartermaster can name. Generated from \`src/base/errors.ts\` by \`npm run docs:errors\`; do not edit.

- An agent gets a JSON-RPC error with the number below; \`data.code\` is the name, and the message ends with the next step.
- A tool's own failure (\`isError\`) is not in this table: it is the tool's result and reaches the agent unchanged.
- **Retry** says that the same call may succeed later without anybody changing anything. Where it says no, the message
  tells what has to change first, or that the call may already have run.
- Numbers from -32768 to -32000 are JSON-RPC's and MCP's own; ours lie outside.
- The HTTP status is for answers over HTTP that carry this error, the exit code for the command line.

| code | what happened | JSON-RPC | HTTP | exit | retry |
|---|---|---|---|---|---|
${entries.map(([code, row]) => renderRow(code, row)).join('\n')}

## Exit codes

| exit | means | errors |
|---|---|---|
${exitMeanings.map(([exit, meaning]) => renderExit(exit, meaning, entries)).join('\n')}
`;
}

const exitMeanings: readonly (readonly [exit: number, meaning: string])[] = [
  [0, 'good'],
  [1, 'the thing asked failed'],
  [2, 'wrong usage'],
  [3, 'configuration invalid'],
  [4, 'authentication needed'],
  [5, 'denied by policy'],
];

function renderRow(code: string, { http, jsonRpc, exit, retryable, meaning }: ErrorRow): string {
  return `| \`${code}\` | ${escapeCell(meaning)} | ${jsonRpc} | ${http} | ${exit} | ${retryable ? 'yes' : 'no'} |`;
}

function renderExit(exit: number, meaning: string, entries: readonly (readonly [string, ErrorRow])[]): string {
  const codes = entries.filter(([, row]) => row.exit === exit).map(([code]) => `\`${code}\``);
  return `| ${exit} | ${meaning} | ${codes.join(' ') || '–'} |`;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
