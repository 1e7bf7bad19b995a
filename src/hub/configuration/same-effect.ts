import { isDeepStrictEqual } from 'node:util';
import type { Configuration, ConfiguredServer, PolicyRule } from '../../domain/index.ts';
import type { Judgement } from '../../trust/index.ts';

/** Whether two loads of the files give the same rights and leave the same to approve. */
export function isSameEffect(one: Judgement, other: Judgement): boolean {
  const pending = ({ pending: items }: Judgement): unknown =>
    items.map(({ item, change, declined }) => [item.hash, change, declined]);
  return (
    isDeepStrictEqual(pending(one), pending(other)) &&
    isDeepStrictEqual(withTexts(one.configuration), withTexts(other.configuration))
  );
}

/** The servers of a client's file share its rules, so each list is compared as one text that is written once. */
function withTexts(configuration: Configuration): unknown {
  const texts = new WeakMap<object, string>();
  const textOf = (rules: readonly PolicyRule[]): string => {
    const text =
      texts.get(rules) ??
      JSON.stringify(rules.map(({ pattern, effect, source, condition }) => [pattern, effect, source, condition?.text]));
    texts.set(rules, text);
    return text;
  };
  const plain = (server: ConfiguredServer): unknown => {
    if (server.kind !== 'ready') return server;
    const restrictedBy = server.spec.restrictedBy.map(({ rules, ...rest }) => {
      if (rules === undefined) return rest;
      const agents = new Map([...rules.agents].map(([name, own]) => [name, textOf(own)]));
      return { ...rest, rules: [rules.prefix, textOf(rules.rules), agents] };
    });
    return { ...server, spec: { ...server.spec, restrictedBy } };
  };
  const servers = new Map([...configuration.servers].map(([name, server]) => [name, plain(server)]));
  return { ...configuration, servers };
}
