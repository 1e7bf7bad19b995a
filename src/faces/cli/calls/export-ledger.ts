import { appendFile, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { errnoOf, HubError, isJsonObject, sleep, version } from '../../../base/index.ts';
import { cefFormat, type ExportPositions, jsonlFormat, runExport } from '../../../ledger/index.ts';
import { ledgerPlaces } from '../../../storage/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { stateLayout } from '../hub/state-layout.ts';
import { checkOutput, replaceOutput } from '../terminal/output-file.ts';
import { plural } from '../terminal/plural.ts';
import type { ExportAnswer } from './ledger-shapes.ts';

export interface ExportArguments {
  readonly to?: string;
  readonly format: 'jsonl' | 'cef';
  readonly from?: string;
  readonly cursor?: string;
  readonly follow?: boolean;
}

export async function exportLedger(cli: CliContext, invocation: Invocation, options: ExportArguments): Promise<void> {
  const { clock, terminal, signals } = cli;
  const cursor = options.cursor === undefined ? undefined : resolve(cli.cwd, options.cursor);
  const positions = cursor === undefined ? new Map() : await readCursor(cursor);
  const signal = AbortSignal.any([signals.graceful(), terminal.gone]);
  const total = await runExport({ clock }, ledgerPlaces(stateLayout(cli, invocation.workspace)), {
    format: options.format === 'cef' ? cefFormat(version) : jsonlFormat(),
    positions,
    from: readFrom(options.from),
    follow: options.follow === true,
    signal,
    send: await createSender(cli, options, signal),
    async onAcknowledged(reached) {
      if (cursor !== undefined) await writeCursor(cli, cursor, reached);
    },
  });
  if (options.to === undefined) return;
  if (invocation.json) terminal.out(JSON.stringify({ lines: total } satisfies ExportAnswer));
  else terminal.err(`Exported ${plural(total, 'line')} to ${options.to}.`);
}

type Send = (text: string) => Promise<void>;

async function createSender(cli: CliContext, { to, format }: ExportArguments, signal: AbortSignal): Promise<Send> {
  if (to === undefined) return async (text) => cli.terminal.out(text.trimEnd());
  if (/^https?:\/\//.test(to)) {
    const type = format === 'cef' ? 'text/plain; charset=utf-8' : 'application/x-ndjson';
    return (text) => post(cli, { url: to, type }, text, signal);
  }
  const path = resolve(cli.cwd, to);
  await checkOutput(path);
  return (text) => appendFile(path, text, { mode: 0o600 });
}

/** Tries a few times: a receiver that restarts must not end the export. */
async function post(
  { clock, env }: CliContext,
  { url, type }: { readonly url: string; readonly type: string },
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const authorization = env.QM_EXPORT_AUTHORIZATION;
  const headers = { 'content-type': type, ...(authorization === undefined ? {} : { authorization }) };
  let reason = '';
  for (const waitMs of waitsMs) {
    await sleep(clock, waitMs, signal);
    if (signal.aborted) break;
    const late = new AbortController();
    const timer = clock.setTimer(requestMs, () => late.abort());
    try {
      const limit = AbortSignal.any([signal, late.signal]);
      const response = await fetch(url, { method: 'POST', headers, body: text, redirect: 'error', signal: limit });
      await response.body?.cancel();
      if (response.ok) return;
      reason = `HTTP ${response.status}`;
      // It will not take the same bytes later either.
      if (response.status >= 400 && response.status < 500 && response.status !== 408 && response.status !== 429) break;
    } catch (error) {
      reason = error instanceof Error ? error.name : 'unknown error';
    } finally {
      timer.cancel();
    }
  }
  throw new HubError('UPSTREAM_UNAVAILABLE', `${url.split('?')[0]} did not take the export (${reason}).`, {
    hint: 'Check the receiver, then run the command again; with --cursor it goes on where it stopped.',
  });
}

const waitsMs = [0, 500, 1000, 2000, 4000, 8000];
const requestMs = 30_000;

async function readCursor(path: string): Promise<ExportPositions> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return new Map();
    throw new HubError('USAGE', `${path} cannot be read (${errnoOf(error) ?? 'unknown error'}).`, {
      hint: 'Name another cursor file.',
      cause: error,
    });
  }
  const positions = parseCursor(text);
  if (positions !== undefined) return positions;
  throw new HubError('USAGE', `${path} is not a cursor of \`qm ledger export\`.`, {
    hint: 'Name another file, or delete it to export from the beginning.',
  });
}

/** Checked by hand: a schema library would be loaded for two members. */
function parseCursor(text: string): ExportPositions | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || value.version !== 1 || !isJsonObject(value.positions)) return undefined;
  const positions: ExportPositions = new Map();
  for (const [life, seq] of Object.entries(value.positions)) {
    if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 0) return undefined;
    positions.set(life, seq);
  }
  return positions;
}

async function writeCursor({ random }: CliContext, path: string, positions: ExportPositions): Promise<void> {
  const text = JSON.stringify({ version: 1, positions: Object.fromEntries(positions) });
  await replaceOutput(path, `${text}\n`, random);
}

function readFrom(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HubError('USAGE', `"${text.slice(0, 40)}" is not a sequence number.`, { hint: 'Write --from 1200.' });
}
