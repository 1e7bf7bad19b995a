import { knownAlternative } from '../../governance/index.ts';
import type { UpstreamControl } from '../../upstream/index.ts';

/** What an agent can do without the server: as the configuration says, else the command line for a well-known server. */
export function alternativeTo({ spec }: Pick<UpstreamControl, 'spec'>): string | undefined {
  return spec.instead?.trim().replace(/\.$/, '') || knownAlternative(spec);
}
