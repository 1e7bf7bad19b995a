import { readAccessOf, withholding } from '../calls/index.ts';
import { type Configuration, decideOn } from '../domain/index.ts';
import { createPolicyCompiler, isReadName, type PolicyCompiler } from '../governance/index.ts';
import type { Hub } from './hub.ts';
import type { NameBooks } from './name-books.ts';
import type { UpstreamPool } from './upstream-pool.ts';

/** Decides like the views, but also for hidden tools. */
export function createExplain(
  configurationNow: () => Configuration,
  pool: Pick<UpstreamPool, 'upstreams'>,
  names: Pick<NameBooks, 'of'>,
): Hub['explain'] {
  let known: { readonly configuration: Configuration; readonly compile: PolicyCompiler } | undefined;

  function compilerNow(): PolicyCompiler {
    const configuration = configurationNow();
    if (known?.configuration !== configuration) known = { configuration, compile: createPolicyCompiler(configuration) };
    return known.compile;
  }

  return (chain, server, tool, call) => {
    const policy = compilerNow()(chain);
    const { lastCatalog: catalog } = pool.upstreams.get(server)?.control ?? {};
    if (isReadName(tool)) return readAccessOf(policy, server, catalog).decide(tool);
    const offered = catalog?.tools.find(({ name }) => name === tool);
    // A tool that no server has must not take a name.
    const exposedName = offered === undefined ? tool : names.of('tool').nameOf(server, tool);
    const unaccepted = catalog?.withheld?.tool.get(tool);
    const hints = (offered ?? unaccepted?.definition)?.hints ?? null;
    const decision = policy.decide(server, tool, exposedName, hints);
    if (unaccepted !== undefined) return withholding(decision, unaccepted.why);
    return call === undefined ? decision : decideOn(decision, { labels: new Set(), ...call });
  };
}
