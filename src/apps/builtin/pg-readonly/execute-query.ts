import { type Rows, readReport, readRows } from './rows.ts';
import type { Session } from './session.ts';
import type { ReadStatement } from './statement.ts';
import { refuseVolatileCalls } from './volatile-calls.ts';

export interface QueryBounds {
  readonly maxRows: number;
  readonly allowedFunctions: readonly string[];
}

/** Runs a statement whose text only reads. */
export async function executeQuery(
  session: Session,
  { kind, text, mentions }: ReadStatement,
  { maxRows, allowedFunctions }: QueryBounds,
): Promise<Rows> {
  if (mentions.length > 0) await refuseVolatileCalls(session, mentions, allowedFunctions);
  return kind === 'rows' ? readRows(session, text, maxRows) : readReport(session, text, maxRows);
}
