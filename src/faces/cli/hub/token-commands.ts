import { createTokenBook } from '../../../governance/index.ts';
import { createFileTokenStore } from '../../../storage/index.ts';
import {
  type IssuedTokenBody,
  issuedTokenBody,
  type TokenOrderBody,
  type TokenSummaryBody,
  tokenSummaryBody,
} from '../../api/index.ts';
import { commandOrigin, operatorLog } from '../acts/operator-log.ts';
import { recordTokens } from '../acts/recorded-tokens.ts';
import type { CliContext } from '../context.ts';
import { findHub } from './find-hub.ts';
import { stateLayout } from './state-layout.ts';

/** Issues and revokes tokens, whether a hub runs or not. */
export interface TokenCommands {
  issue(order: TokenOrderBody): Promise<IssuedTokenBody>;
  list(): Promise<readonly TokenSummaryBody[]>;
  revoke(id: string): Promise<void>;
}

/** Goes through the running hub if there is one: only then does a revocation take effect at once. */
export async function openTokenCommands(cli: CliContext, workspace: string): Promise<TokenCommands> {
  const { clock, random } = cli;
  const hub = await findHub(cli, workspace, commandOrigin(cli));
  if (hub !== undefined) {
    return {
      issue: (order) => hub.issueToken(order),
      list: () => hub.listTokens(),
      revoke: (id) => hub.revokeToken(id),
    };
  }
  const layout = stateLayout(cli, workspace);
  const store = createFileTokenStore(layout, { clock, random });
  const book = await createTokenBook({ clock, random, store, recorded: recordTokens(operatorLog(cli, workspace)) });
  return {
    issue: async (order) => issuedTokenBody(await book.issue(order)),
    list: async () => book.list().map(tokenSummaryBody),
    revoke: (id) => book.revoke(id),
  };
}
