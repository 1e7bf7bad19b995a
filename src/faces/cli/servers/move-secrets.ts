import { join } from 'node:path';
import { HubError } from '../../../base/index.ts';
import { type FoundLiteral, loadWithSources, type SecretValues } from '../../../config/index.ts';
import { protectedPlaces } from '../../../storage/index.ts';
import type { SecretBook } from '../../../vault/index.ts';
import { openFile } from '../../../workspace-files/index.ts';
import { openRecordedSecrets } from '../acts/recorded-secrets.ts';
import type { CliContext } from '../context.ts';
import { stateLayout } from '../hub/state-layout.ts';
import { beforeWriting } from '../trust/approve-written.ts';
import { withConfigLock } from './config-change.ts';
import { loadWithUses } from './load-workspace.ts';
import { type MovePlan, type MoveScene, planMove } from './plan-move.ts';

/** Moves secrets out of the files of a workspace, one after the other. */
export interface SecretMover {
  /** The secrets that are written into files. */
  find(): Promise<readonly FoundLiteral[]>;
  /** What a move would do. Throws if it is not possible. */
  plan(literal: FoundLiteral, name: string | undefined): Promise<MovePlan>;
  /** Stores the secret, then changes the file. Throws if the file is no longer as it was planned. */
  move(plan: MovePlan): Promise<void>;
  /** The lines where the value is still in the file, in a comment or in another entry. */
  linesLeft(plan: MovePlan): Promise<readonly number[]>;
  /** A text of a file without the secrets in it. */
  hide(text: string): string;
}

export function createSecretMover(cli: CliContext, workspace: string): SecretMover {
  const book = openRecordedSecrets(cli, workspace);
  let known: readonly string[] = [];
  return {
    async find() {
      const { configuration, literals } = await loadWithUses(cli, workspace, book);
      known = [...configuration.secrets, ...literals.map(({ value }) => value)].sort((a, b) => b.length - a.length);
      return literals;
    },
    plan: async (literal, name) => planMove(await openScene(cli, workspace, book), literal, name),
    move: (plan) =>
      withConfigLock(cli, workspace, async () => {
        const { literal, name, before, after } = plan;
        const opened = await openFile(cli, join(workspace, literal.file), literal.file);
        if (opened.text !== before) throw changed(literal.file);
        const approval = await beforeWriting(cli, workspace);
        approval.refuseOther(literal.file, opened.text);
        await book.set(name, literal.value);
        await opened.replace(after).catch((error: unknown) => {
          throw notWritten(error, plan);
        });
        await approval.approve(new Map([[literal.file, after]]), [literal.server]);
      }),
    async linesLeft({ literal: { file, value } }) {
      const { text = '' } = await openFile(cli, join(workspace, file), file);
      return text.split('\n').flatMap((line, at) => (line.includes(value) ? [at + 1] : []));
    },
    hide: (text) => known.reduce((left, value) => left.replaceAll(value, '[redacted]'), text),
  };
}

async function openScene(cli: CliContext, workspace: string, book: SecretBook): Promise<MoveScene> {
  const stored = await book.values();
  const loaded = await loadWithUses(cli, workspace, book);
  const { env } = cli;
  return {
    loaded,
    stored,
    tryOut(file, text, [name, value]) {
      const values = new Map([...stored, [name, value]]);
      const secrets: SecretValues = { file: stateLayout(cli, workspace).secrets, values: async () => values };
      const instead = new Map([[file, { kind: 'text', text } as const]]);
      return loadWithSources({ env, secrets, protectedPlaces: protectedPlaces(env) }, { workspace, instead });
    },
  };
}

function changed(file: string): HubError {
  return new HubError('STATE_LOCKED', `${file} was changed meanwhile; nothing was moved.`, {
    hint: 'Look at it, then try again.',
  });
}

function notWritten(error: unknown, { name, literal }: MovePlan): HubError {
  const { code, message, hint } = error instanceof HubError ? error : new HubError('INTERNAL', String(error));
  return new HubError(code, `${name} is stored, but still in ${literal.file}: ${message}`, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  });
}
