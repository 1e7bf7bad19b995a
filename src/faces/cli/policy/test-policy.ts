import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { errnoOf, HubError } from '../../../base/index.ts';
import { affectsAll, type Configuration, placeOf } from '../../../domain/index.ts';
import { triedConfiguration } from '../../../governance/index.ts';
import { visitJournalCalls } from '../../../ledger/index.ts';
import { ledgerPlaces } from '../../../storage/index.ts';
import { readDuration } from '../calls/calls-filter.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { withLocalHub } from '../hosting/local-hub.ts';
import { stateLayout } from '../hub/state-layout.ts';
import { loadWithUses } from '../servers/load-workspace.ts';
import { visitCallFile } from './call-file.ts';
import { createRecordedJudge } from './judge-recorded.ts';
import { createReplay, type Replay, type ReplayReport } from './replay-calls.ts';
import { replayLines } from './replay-lines.ts';

export interface PolicyTestOptions {
  readonly calls?: string;
  readonly since?: string;
  readonly policy?: string;
  readonly shadow?: boolean;
}

/** Decides recorded calls again. Anything but the same decision on every call is a failure. */
export async function testPolicy(cli: CliContext, invocation: Invocation, options: PolicyTestOptions): Promise<void> {
  const { terminal } = cli;
  const configuration = await policyToTest(cli, invocation, options);
  const report = await withLocalHub(cli, invocation, async (hub) => {
    const replay = createReplay(createRecordedJudge({ hub }, configuration));
    await visitCalls(cli, invocation, options, replay);
    return placedIn(options.policy, replay.report());
  });
  if (report.calls === 0) throw nothingToTest(options);
  if (!isSame(report)) cli.exitWith(1);
  if (invocation.json) terminal.out(JSON.stringify(report));
  else for (const line of replayLines(report, terminal)) terminal.say(line);
}

/** Places in quartermaster.yaml are places in the file that was used instead. */
function placedIn(policy: string | undefined, report: ReplayReport): ReplayReport {
  if (policy === undefined) return report;
  const changes = report.changes.map((change) => ({
    ...change,
    rule_source: change.rule_source?.replace(/^quartermaster\.yaml(?=:|$)/, () => policy) ?? null,
  }));
  return { ...report, changes };
}

function isSame({ changed, unknown, unreadable }: ReplayReport): boolean {
  return changed + unknown + unreadable === 0;
}

/** As the files have it. Whether anybody approved it does not matter, because nothing is enforced. */
async function policyToTest(
  cli: CliContext,
  { workspace }: Invocation,
  { policy, shadow }: PolicyTestOptions,
): Promise<Configuration> {
  const instead =
    policy === undefined
      ? undefined
      : new Map([['quartermaster.yaml', { kind: 'text', text: await readPolicyFile(cli, policy) } as const]]);
  const { configuration } = await loadWithUses(cli, workspace, undefined, instead);
  refuseMistakes(configuration, policy);
  if (shadow !== true) return configuration;
  const tried = triedConfiguration(configuration);
  if (tried !== undefined) return tried;
  throw new HubError('USAGE', 'The configuration has no shadow policy.', {
    hint: 'Write policies.shadow or policies.mode: shadow, or leave --shadow out.',
  });
}

async function readPolicyFile({ cwd }: CliContext, path: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, path), 'utf8');
  } catch (error) {
    throw new HubError('USAGE', `The policy ${path} cannot be read (${errnoOf(error) ?? 'unknown error'}).`, {
      hint: 'Name a file like quartermaster.yaml with --policy.',
      cause: error,
    });
  }
}

/** A file with a mistake denies everything, which is not what its author wants to test. */
function refuseMistakes({ problems }: Configuration, policy: string | undefined): void {
  const mistake = problems.find(affectsAll);
  if (mistake === undefined) return;
  const place = placeOf(policy === undefined ? mistake : { ...mistake, file: policy });
  throw new HubError('CONFIG_INVALID', `${place}: ${mistake.message}`, {
    ...(mistake.fix === undefined ? {} : { hint: mistake.fix }),
  });
}

async function visitCalls(
  cli: CliContext,
  { workspace }: Invocation,
  { calls, since: given }: PolicyTestOptions,
  replay: Replay,
): Promise<void> {
  const since = given === undefined ? undefined : cli.clock.now() - readDuration(given);
  const range = since === undefined ? {} : { since };
  if (calls !== undefined) await visitCallFile(resolve(cli.cwd, calls), range, replay.add);
  else await visitJournalCalls(ledgerPlaces(stateLayout(cli, workspace)), range, replay.add);
}

/** A test of nothing must not pass in CI. */
function nothingToTest({ calls, since }: PolicyTestOptions): HubError {
  const where = calls === undefined ? 'The audit log' : `The file ${calls}`;
  const when = since === undefined ? '' : ` of the last ${since}`;
  return new HubError('USAGE', `${where} has no calls${when} to test with.`, {
    hint: '`qm calls --json --limit 1000 > calls.jsonl` writes recorded calls to a file, which --calls names.',
  });
}
