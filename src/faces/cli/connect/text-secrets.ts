import type { Client, ClientContext } from '../../../clients/index.ts';
import { createRedactor } from '../../../vault/index.ts';
import type { CliContext } from '../context.ts';
import { loadTexts } from '../trust/workspace-trust.ts';
import type { FileDraft } from './file-drafts.ts';

/** From now on, the secrets in these files are masked in all output, as they are and as they would be. */
export async function maskSecrets(
  cli: CliContext,
  { client, at }: { readonly client: Client; readonly at: ClientContext },
  drafts: readonly FileDraft[],
): Promise<void> {
  const secrets = new Set<string>();
  for (const file of client.files(at)) {
    const draft = drafts.find(({ path }) => path === file.path);
    const texts = draft === undefined ? [] : [draft.onDisk ?? '', draft.steps.after];
    for (const text of new Set(texts)) {
      const project = file.readAs(text);
      if (project === undefined) continue;
      const alone = new Map([[project.file, { kind: 'text', text: project.text } as const]]);
      const { configuration, literals } = await loadTexts(cli, at.workspace, alone);
      for (const secret of [...configuration.secrets, ...literals.map(({ value }) => value)]) secrets.add(secret);
    }
  }
  cli.mask.use(createRedactor([...secrets]));
}
