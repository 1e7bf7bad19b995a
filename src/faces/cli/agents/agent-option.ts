import type { Command } from 'commander';
import { HubError } from '../../../base/index.ts';
import { runIdPattern } from '../../../domain/index.ts';

/**
 * The option is needed. Commander would check that before it looks for mistyped options, and call a mistyped `--agent` a
 * missing one.
 */
export function withAgent(command: Command, what: string): Command {
  return command.option('--agent <name>', what).hook('preAction', (_outer, inner) => {
    if (inner.opts<{ agent?: string }>().agent !== undefined) return;
    throw new HubError('USAGE', "The option '--agent <name>' is missing.", {
      hint: 'Name an agent of the configuration; if it has none, any name works.',
    });
  });
}

export function checkAgent(name: string): string {
  if (/^[A-Za-z0-9._-]{1,64}$/.test(name)) return name;
  throw new HubError('USAGE', `"${name.slice(0, 80)}" cannot be the name of an agent.`, {
    hint: 'Use 1 to 64 letters, digits, dots, dashes and underscores.',
  });
}

export function checkRun(run: string | undefined): string | undefined {
  if (run === undefined || runIdPattern.test(run)) return run;
  throw new HubError('USAGE', `"${run.slice(0, 80)}" cannot be a run id.`, {
    hint: 'Use 1 to 64 letters, digits, dashes and underscores.',
  });
}
