import { type Configuration, isPattern, type PolicyRule, type Problem } from '../../domain/index.ts';
import { splitsOfToolName } from './tool-name.ts';

/** Finds exact rules whose name fits tools of several servers, as `a.b.c` does where `a` and `a.b` are configured. */
export function* ambiguousNames(configuration: Configuration): Generator<Problem> {
  const policies = [configuration, ...configuration.agents.values()].flatMap(({ policy, shadow }) => [policy, shadow]);
  for (const policy of policies) {
    for (const rule of policy?.rules ?? []) {
      if (isPattern(rule.pattern)) continue;
      const splits = splitsOfToolName(rule.pattern, configuration.servers);
      if (splits.length > 1) yield toProblem(rule, splits);
    }
  }
}

function toProblem(
  { pattern, effect, source }: PolicyRule,
  splits: readonly { readonly server: string; readonly tool: string }[],
): Problem {
  const meanings = splits.map(({ server, tool }) => `tool ${tool} of server ${server}`).join(' or ');
  const result = effect === 'allow' ? 'It allows none of them.' : 'It applies to all of them.';
  return {
    severity: 'warning',
    file: source.file,
    ...(source.line === undefined ? {} : { line: source.line }),
    message: `A rule names "${pattern}", which can mean ${meanings}. ${result}`,
    fix: 'Rename a server so that no name begins with another one and a dot.',
  };
}
