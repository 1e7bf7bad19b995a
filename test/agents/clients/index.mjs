import { claudeCode } from './claude-code.mjs';
import { codex, codexOptional } from './codex.mjs';
import { copilot } from './copilot.mjs';
import { gemini } from './gemini.mjs';
import { opencode } from './opencode.mjs';

export const clients = [claudeCode, opencode, copilot, gemini, codex, codexOptional];
