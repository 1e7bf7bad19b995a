import { createTokenBook } from '../../governance/index.ts';
import { createFileTokenStore, workspaceLayout } from '../../storage/index.ts';
import {
  type IssuedTokenBody,
  issuedTokenBody,
  type TokenOrderBody,
  type TokenSummaryBody,
  tokenSummaryBody,
} from '../api/index.ts';
import type { CliContext } from './context.ts';
import { findHub } from './find-hub.ts';
import { sayIfUntrusted } from './untrusted-state.ts';

/** Where tokens are issued and revoked, whether a hub runs or not. */
export interface TokenDesk {
  issue(order: TokenOrderBody): Promise<IssuedTokenBody>;
  list(): Promise<readonly TokenSummaryBody[]>;
  revoke(id: string): Promise<void>;
}

/** The running hub hears of a revocation at once only when it goes through it. */
export async function openTokenDesk(cli: CliContext, workspace: string): Promise<TokenDesk> {
  const { clock, random } = cli;
  const hub = await findHub(workspace);
  if (hub !== undefined) {
    return {
      issue: (order) => hub.issueToken(order),
      list: () => hub.listTokens(),
      revoke: (id) => hub.revokeToken(id),
    };
  }
  const layout = workspaceLayout(workspace);
  await sayIfUntrusted(cli, layout);
  const store = createFileTokenStore(layout, { clock, random });
  const book = await createTokenBook({ clock, random, store });
  return {
    issue: async (order) => issuedTokenBody(await book.issue(order)),
    list: async () => book.list().map(tokenSummaryBody),
    revoke: (id) => book.revoke(id),
  };
}
