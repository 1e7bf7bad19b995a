import type { Client } from './client.ts';
import { claudeCode } from './kinds/claude-code.ts';
import { claudeDesktop } from './kinds/claude-desktop.ts';
import { codex } from './kinds/codex.ts';
import { copilot } from './kinds/copilot.ts';
import { cursor } from './kinds/cursor.ts';
import { gemini } from './kinds/gemini.ts';
import { opencode } from './kinds/opencode.ts';
import { vsCode } from './kinds/vs-code.ts';
import { windsurf } from './kinds/windsurf.ts';
import { zed } from './kinds/zed.ts';

export const knownClients: readonly Client[] = [
  claudeCode,
  claudeDesktop,
  vsCode,
  cursor,
  copilot,
  codex,
  gemini,
  opencode,
  windsurf,
  zed,
];

/** By its name or another word for it. */
export function findClient(word: string): Client | undefined {
  const folded = word.toLowerCase().replace(/[\s_]+/g, '-');
  return knownClients.find(({ name, aliases }) => name === folded || aliases.includes(folded));
}
