import { ResourceWatch } from './resource-watch.ts';
import type { Views } from './views.ts';

/** It was allowed when it was asked for; each time that something is told, it is looked at again. */
export function watchAllowed(
  views: Views,
  chain: readonly string[],
  uri: string,
  onUpdate: (uri: string) => void,
): ResourceWatch {
  return new ResourceWatch((ownUri) => {
    const view = views.of(chain);
    const target = view.find('subscription', uri);
    // The part that changed may be denied although the whole is not.
    if (target?.decision.effect !== 'allow' || !view.canRead(target.server, ownUri)) return;
    onUpdate(uri + ownUri.slice(target.ownName.length));
  });
}
