import { HubError } from '../../../base/index.ts';
import { maxSecretBytes, secretTooLong } from '../../../vault/index.ts';
import type { CliContext } from '../context.ts';
import { readHidden } from './read-hidden.ts';

/** A secret from a person, without showing it, or from a pipe. Never an argument: other users see those. */
export async function readSecretValue(cli: CliContext, name: string): Promise<string> {
  const { stdin, terminal } = cli;
  if (stdin.isTTY !== true) return await readPiped(cli, name);
  if (!terminal.errIsTerminal) {
    throw new HubError('USAGE', `There is no terminal to ask for ${name}.`, {
      hint: 'Pipe the value into the command.',
    });
  }
  const output = terminal.errStream;
  output.write(`Value of ${name} (not shown): `);
  const answer = await readHidden({ input: stdin, output }, maxSecretBytes, cli.signals.graceful());
  output.write('\n');
  switch (answer.kind) {
    case 'text':
      return withoutLastBreak(answer.text);
    case 'too-long':
      throw secretTooLong(name);
    case 'several-lines':
      throw new HubError('USAGE', `The value of ${name} has several lines. Nothing was changed.`, {
        hint: `This terminal does not say what is pasted. Pipe the value instead: qm secret set ${name} < FILE`,
      });
    case 'interrupt':
      throw new HubError('CANCELLED', 'Interrupted. Nothing was changed.');
  }
}

async function readPiped({ stdin }: CliContext, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > maxSecretBytes + 2) throw secretTooLong(name);
    chunks.push(bytes);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
    return withoutLastBreak(text);
  } catch {
    throw new HubError('USAGE', `The value of ${name} is not UTF-8 text. Nothing was changed.`);
  }
}

/** Most programs print one last. */
function withoutLastBreak(text: string): string {
  return text.replace(/\r?\n$/, '');
}
