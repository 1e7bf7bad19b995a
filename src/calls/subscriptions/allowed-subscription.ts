import { createWorkBudget } from '../../base/index.ts';
import { maxDecisionWork } from '../../governance/index.ts';
import type { Views } from '../views/views.ts';
import { ResourceSubscription } from './resource-subscription.ts';

/** Decides again before each notification, because rights may have changed since the subscription. */
export function subscribeAllowed(
  views: Views,
  chain: readonly string[],
  uri: string,
  onUpdate: (uri: string) => void,
): ResourceSubscription {
  return new ResourceSubscription((ownUri) => {
    const view = views.of(chain);
    const target = view.find('subscription', uri);
    if (target?.decision.effect !== 'allow') return;
    // The changed part may be denied although the resource is not.
    if (ownUri !== target.ownName && !view.canRead(target.server, ownUri, createWorkBudget(partWork))) return;
    onUpdate(uri + ownUri.slice(target.ownName.length));
  });
}

/** A server may send any number of these, and each is decided for every subscriber. */
const partWork = maxDecisionWork / 16;
