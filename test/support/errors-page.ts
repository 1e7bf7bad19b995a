import type { ErrorRow } from '../../src/base/index.ts';

/** Generates docs/errors.md from the error table. */
export function renderErrorsPage(table: Readonly<Record<string, ErrorRow>>): string {
  const entries = Object.entries(table);
  return `# Errors

All error codes of Quartermaster. Generated from \`src/base/errors.ts\` by \`npm run docs:errors\`; do not edit.

- An agent gets a JSON-RPC error with the number below. \`data.code\` has the name, and the message ends with the next step.
- A tool error (\`isError\`) is not in this table: it is a result and reaches the agent unchanged.
- **Retry** means that the same call may succeed later without any change. Otherwise the message says what to change first,
  or that the call may already have run.
- Numbers from -32768 to -32000 belong to JSON-RPC and MCP; the hub's own are outside that range.
- The HTTP status is the status of an HTTP response with this error. The exit code is that of \`qm\`.

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
  [0, 'success'],
  [1, 'failure'],
  [2, 'wrong usage'],
  [3, 'configuration invalid'],
  [4, 'authentication required'],
  [5, 'denied by policy'],
  [6, 'not trusted yet'],
  [130, 'interrupted'],
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
