import { type Command, Option } from 'commander';
import { HubError } from '../../../base/index.ts';
import { runIdPattern } from '../../../domain/index.ts';

export function withAgent(command: Command, what: string): Command {
  return command.addOption(new Option('--agent <name>', what).makeOptionMandatory());
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
