/** The end of a command's help: commands to copy, each on one line, with an optional `# comment`. */
export function helpExamples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
