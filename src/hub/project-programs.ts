import { type CoverOptions, checkReach } from '../config/index.ts';
import type { Configuration } from '../domain/index.ts';
import { protectedPlaces } from '../storage/index.ts';
import type { ProgramContext } from '../upstream/index.ts';
import type { ConfigurationSource } from './configuration/configuration-source.ts';
import type { HubDeps } from './hub.ts';
import type { ProcessParts } from './process-parts.ts';

/** What the programs of a project may run and reach. */
export function programContext(
  deps: Pick<HubDeps, 'env'>,
  parts: Pick<ProcessParts, 'layout' | 'npmShell'>,
  source: ConfigurationSource,
): ProgramContext {
  return {
    workspace: source.configuration.workspace,
    home: deps.env.HOME,
    npmShell: parts.npmShell,
    checkReach: (spec, transport) => checkReach(spec, transport, coverOptions(deps, parts, source.configuration)),
  };
}

/** Where keys are, and which folders servers may have all the same. */
export function coverOptions(
  { env }: Pick<HubDeps, 'env'>,
  { layout }: Pick<ProcessParts, 'layout'>,
  { workspace, allowPaths }: Pick<Configuration, 'workspace' | 'allowPaths'>,
): CoverOptions {
  return { workspace, allowPaths, places: protectedPlaces(env, layout.home), home: env.HOME };
}
