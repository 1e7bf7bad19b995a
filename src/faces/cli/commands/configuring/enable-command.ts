import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import { switchCommand } from '../../servers/switch-command.ts';

export function enableCommand(cli: CliContext): Command {
  return switchCommand(cli, true);
}
