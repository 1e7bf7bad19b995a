import { type Plain, renderYaml } from '../text/render-member.ts';
import { type Preset, presetRoles } from './preset.ts';

/** Merges the suggested routes of the presets into an `agents:` section for quartermaster.yaml. */
export function suggestRoutes(chosen: readonly Preset[]): string {
  const agents: Record<string, Plain> = {};
  for (const role of presetRoles) {
    const routed = chosen.filter(({ routes }) => routes[role] !== 'none');
    if (routed.length === 0) continue;
    const lists = routed.flatMap(({ id, routes }): [string, Plain][] => {
      const route = routes[role];
      return typeof route === 'string' ? [] : [[id, { include: route }]];
    });
    const servers = routed.map(({ id }) => id);
    agents[role] = lists.length === 0 ? { servers } : { servers, tools: Object.fromEntries(lists) };
  }
  return renderYaml({ agents });
}
