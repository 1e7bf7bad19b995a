import { HubError, toHubError } from '../../../base/index.ts';
import type { FoundLiteral } from '../../../config/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { type TakeUp, takeUpLine } from '../hub/hub-take-up.ts';
import { nameHint } from '../name-hint.ts';
import { type MovedSecret, previewLines, remainingLines } from '../servers/move-lines.ts';
import { createSecretMover, type SecretMover } from '../servers/move-secrets.ts';
import type { MovePlan } from '../servers/plan-move.ts';
import type { SecretMoved } from '../state-shapes.ts';
import { confirm } from '../terminal/confirm.ts';
import { tellHubOfSecrets } from './secret-take-up.ts';

export interface MoveOrder {
  readonly server: string;
  readonly field: string | undefined;
  readonly name: string | undefined;
  readonly agreed: boolean;
}

/** `qm secret move` */
export async function moveSecrets(cli: CliContext, { workspace, json }: Invocation, order: MoveOrder): Promise<void> {
  const { terminal } = cli;
  const mover = createSecretMover(cli, workspace);
  checkOrder(await mover.find(), order);
  const moved = await moveEach(cli, mover, {
    isMeant: (literal) => isOrdered(literal, order),
    plan: (literal) => mover.plan(literal, order.name),
    agree: async (plan) => {
      if (!json) say(cli, previewLines(terminal.errColours, plan, mover.hide));
      return order.agreed || (await confirm(cli, 'Move it?', { option: '--yes' }));
    },
    onMoved: (done) => (json ? undefined : say(cli, [`Moved to the secret ${done.name}.`])),
  });
  const hub = moved.length === 0 ? null : await tellHubOfSecrets(cli, workspace, filesOf(moved));
  if (json) return terminal.out(JSON.stringify(answerOf(moved, hub)));
  if (moved.length === 0) return terminal.err('Nothing was moved.');
  conclude(cli, moved, hub);
}

/** At the end of `qm doctor`, on a terminal: offers to move the secrets of these servers. */
export async function offerToMove(cli: CliContext, workspace: string, servers: ReadonlySet<string>): Promise<void> {
  const mover = createSecretMover(cli, workspace);
  const moved = await moveEach(cli, mover, {
    isMeant: ({ server }) => servers.has(server),
    // One that cannot be moved has its advice in the report.
    plan: (literal) =>
      mover.plan(literal, undefined).catch((error: unknown) => {
        if (toHubError(error).code === 'USAGE') return undefined;
        throw error;
      }),
    agree: (plan) => {
      say(cli, ['', ...previewLines(cli.terminal.errColours, plan, mover.hide)]);
      return confirm(cli, 'Move this secret out of the file?', { option: '`qm secret move`' });
    },
    onMoved: (done) => say(cli, [`Moved to the secret ${done.name}.`]),
  });
  if (moved.length > 0) conclude(cli, moved, await tellHubOfSecrets(cli, workspace, filesOf(moved)));
}

interface MoveSteps {
  isMeant(literal: FoundLiteral): boolean;
  plan(literal: FoundLiteral): Promise<MovePlan | undefined>;
  agree(plan: MovePlan): Promise<boolean>;
  onMoved(plan: MovePlan): void;
}

/** More than any workspace has; it ends the loop if a changed text still looks like a secret. */
const mostSecrets = 200;

/** Looks again after each move, because one text may contain several secrets. */
async function moveEach({ signals }: CliContext, mover: SecretMover, steps: MoveSteps): Promise<MovedSecret[]> {
  const stop = signals.graceful();
  const moved: MovePlan[] = [];
  const done = new Set<string>();
  const keyOf = ({ server, file, at, value }: FoundLiteral): string => JSON.stringify([server, file, at.field, value]);
  for (let round = 0; round < mostSecrets && !stop.aborted; round += 1) {
    const literal = (await mover.find()).find((each) => steps.isMeant(each) && !done.has(keyOf(each)));
    if (literal === undefined) break;
    done.add(keyOf(literal));
    const plan = await steps.plan(literal);
    if (plan === undefined || !(await steps.agree(plan))) continue;
    await mover.move(plan);
    moved.push(plan);
    steps.onMoved(plan);
  }
  return await Promise.all(moved.map(async (plan) => ({ plan, left: await mover.linesLeft(plan) })));
}

function isOrdered({ server, at }: FoundLiteral, order: MoveOrder): boolean {
  return server === order.server && (order.field === undefined || at.field === order.field);
}

function checkOrder(literals: readonly FoundLiteral[], order: MoveOrder): void {
  const { server, field, name } = order;
  const found = literals.filter((each) => isOrdered(each, order));
  if (found.length === 0) {
    const ofServer = literals.filter((each) => each.server === server).map(({ at }) => at.field);
    const [word, known] =
      field === undefined || ofServer.length === 0 ? [server, literals.map((each) => each.server)] : [field, ofServer];
    const where = word === server ? `server "${server.slice(0, 80)}"` : `"${word.slice(0, 80)}" of server "${server}"`;
    throw new HubError('USAGE', `No secret is written into a file for ${where}.`, {
      hint: nameHint(word, [...new Set(known)], { some: 'Found', none: 'No configuration file contains one.' }),
    });
  }
  if (name === undefined || new Set(found.map(({ value }) => value)).size === 1) return;
  throw new HubError('USAGE', `Server ${server} has several secrets, and one name is not enough.`, {
    hint: `Name the field too: ${found.map(({ at }) => at.field).join(', ')}.`,
  });
}

function say({ terminal }: CliContext, lines: readonly string[]): void {
  for (const line of lines) terminal.err(line);
}

function conclude(cli: CliContext, moved: readonly MovedSecret[], hub: TakeUp): void {
  const line = takeUpLine(hub);
  say(cli, [...remainingLines(cli.terminal.errColours, moved), ...(line === undefined ? [] : [line])]);
}

function filesOf(moved: readonly MovedSecret[]): string[] {
  return [...new Set(moved.map(({ plan }) => plan.literal.file))];
}

function answerOf(moved: readonly MovedSecret[], hub: SecretMoved['hub']): SecretMoved {
  return {
    moved: moved.map(({ plan: { literal, name }, left }) => ({
      server: literal.server,
      field: literal.at.field,
      file: literal.file,
      line: literal.at.line,
      name,
      left: [...left],
    })),
    hub,
  };
}
