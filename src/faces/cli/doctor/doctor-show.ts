import type { Problem } from '../../../domain/index.ts';
import type { CliContext } from '../context.ts';
import { createLiveBoard } from '../terminal/live-board.ts';
import { safeJson } from '../terminal/safe-json.ts';
import { wrap } from '../terminal/wrap.ts';
import type { DoctorAnswer, DoctorServer } from './diagnosis-shapes.ts';
import { problemGroups, serverLines, tally, verdictLooks, verdictText } from './doctor-lines.ts';
import { findingLines } from './finding-lines.ts';

/** How the doctor shows its findings: redrawn in place, line by line, or as JSON at the end. */
export interface DoctorShow {
  begin(server: string, doing: string): void;
  /** The next attempt begins. */
  goOn(server: string, doing: string): void;
  finding(row: DoctorServer): void;
  /** Restores the terminal at once; findings may still follow. */
  pause(): void;
  /** All findings, in the order of the configuration. */
  end(answer: DoctorAnswer): void;
}

export interface ShowSubject {
  readonly problems: readonly Problem[];
  /** The servers to be probed. */
  readonly names: readonly string[];
}

export function createDoctorShow(cli: CliContext, json: boolean, subject: ShowSubject): DoctorShow {
  if (json) return jsonShow(cli);
  const { colours, width } = cli.terminal;
  const lines = problemGroups(subject.problems, { colours, width });
  for (const line of lines) cli.terminal.out(line);
  if (lines.length > 0) cli.terminal.out('');
  return cli.terminal.motion ? movingShow(cli, subject.names) : plainShow(cli);
}

/** Problems that show only after the servers were asked. */
export function sayProblems({ terminal }: CliContext, problems: readonly Problem[]): void {
  const { colours, width } = terminal;
  for (const line of problemGroups(problems, { colours, width })) terminal.out(line);
}

/** Prints short notes on stderr if it is a terminal; stdout gets only the JSON. */
function jsonShow({ terminal }: CliContext): DoctorShow {
  return {
    begin() {},
    goOn() {},
    finding(row) {
      if (terminal.errIsTerminal) terminal.err(`${row.name}: ${verdictText(row)}`);
    },
    pause() {},
    end: (answer) => terminal.out(safeJson(answer)),
  };
}

function plainShow(cli: CliContext): DoctorShow {
  let first = true;
  return {
    begin() {},
    goOn() {},
    finding(row) {
      print(cli, row, first);
      first = false;
    },
    pause() {},
    end: (answer) => conclude(cli, answer),
  };
}

function movingShow(cli: CliContext, names: readonly string[]): DoctorShow {
  const board = createLiveBoard(cli, names);
  return {
    begin: board.begin,
    goOn: board.goOn,
    finding(row) {
      if (names.includes(row.name)) board.end(row.name, { ...verdictLooks[row.verdict], text: verdictText(row) });
    },
    pause: board.stop,
    end(answer) {
      board.stop();
      for (const [at, row] of answer.servers.entries()) print(cli, row, at === 0);
      conclude(cli, answer);
    },
  };
}

function print({ terminal }: CliContext, row: DoctorServer, first: boolean): void {
  const { colours, width } = terminal;
  if (!first) terminal.out('');
  for (const line of serverLines(row, { colours, width })) terminal.out(line);
}

function conclude({ terminal }: CliContext, { servers, run, findings }: DoctorAnswer): void {
  if (servers.length === 0) return;
  for (const line of findingLines(findings, terminal)) terminal.out(line);
  const recorded = run === null ? '' : ` Recorded in the audit log as run ${run}.`;
  const { errIsTerminal, errColours } = terminal;
  if (errIsTerminal) terminal.err('');
  const width = errIsTerminal ? terminal.size().columns : undefined;
  for (const line of wrap(`${tally(servers)}.${recorded}`, width)) terminal.err(errColours.dim(line));
}
