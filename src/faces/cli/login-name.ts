import { userInfo } from 'node:os';
import type { CliContext } from './context.ts';

/** The person at the terminal, also if the hub runs under another account. */
export function loginName({ env }: Pick<CliContext, 'env'>): string {
  const name = env.SUDO_USER ?? userInfo().username;
  return name.replace(/[^\w.@+-]/g, '_').slice(0, 64) || 'operator';
}
