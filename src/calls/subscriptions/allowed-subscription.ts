import { createWorkBudget } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import { maxDecisionWork } from '../../governance/index.ts';
import type { View } from '../views/view.ts';
import type { Views } from '../views/views.ts';
import { ResourceSubscription } from './resource-subscription.ts';

type SubscribeAllowed = (caller: Caller, uri: string, onUpdate: (uri: string) => void) => ResourceSubscription;

/** Decides again before each notification, because rights may have changed since the subscription. */
export function createAllowedSubscriptions(views: Views): SubscribeAllowed {
  const canReadPart = createPartDecisions();
  return ({ chain, account }, uri, onUpdate) => {
    const updated = (ownUri: string): boolean => {
      const view = views.of(chain);
      const target = view.find('subscription', uri);
      if (target?.decision.effect !== 'allow') return false;
      // The changed part may be denied although the resource is not.
      if (ownUri !== target.ownName && !canReadPart(view, target.server, ownUri)) return false;
      onUpdate(uri + ownUri.slice(target.ownName.length));
      return true;
    };
    return new ResourceSubscription(updated, { client: onUpdate, account });
  };
}

/** A server may send any number of these. */
const partWork = maxDecisionWork / 16;

/** One change is told to all clients of an agent in a row, so the last decision of a view is worth keeping. */
function createPartDecisions(): (view: View, server: string, ownUri: string) => boolean {
  const last = new WeakMap<View, { readonly server: string; readonly ownUri: string; readonly canRead: boolean }>();
  return (view, server, ownUri) => {
    const known = last.get(view);
    if (known?.server === server && known.ownUri === ownUri) return known.canRead;
    const canRead = view.canRead(server, ownUri, createWorkBudget(partWork));
    last.set(view, { server, ownUri, canRead });
    return canRead;
  };
}
