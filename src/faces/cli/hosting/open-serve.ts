import type { Logger } from '../../../base/index.ts';
import type { Hub } from '../../../hub/index.ts';
import { createApprovalPage } from '../../approval-page/index.ts';
import { type Gateway, openGateway } from '../../gateway/index.ts';
import { createMeter, createMetrics } from '../../metrics/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { hostHub } from './host-hub.ts';
import { openOnPort } from './open-on-port.ts';

/** A hub with an open port, registered in the workspace's serve file. */
export interface Serve {
  readonly url: string;
  readonly hub: Hub;
  readonly logger: Logger;
  readonly adminTokenFile: string;
  /** Aborted when `qm stop` ends it. */
  readonly leave: AbortSignal;
  /** Finishes calls in flight, then closes everything. */
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly host: string;
  /** Undefined: the usual one if it is free. */
  readonly port: number | undefined;
}

export function openServe(cli: CliContext, invocation: Invocation, options: ServeOptions): Promise<Serve> {
  const { clock, random } = cli;
  const meter = createMeter();
  return hostHub(cli, invocation, {
    role: 'serve',
    defaultLevel: 'info',
    meter,
    async openPort({ hub, tokens, logger, api, layout, ...operator }) {
      const metrics = createMetrics({ ...operator, hub, meter, clock });
      const approvalPage = createApprovalPage({ hub, clock, logger });
      const deps = { hub, tokens, clock, logger, random, api, metrics, approvalPage };
      const open = (port: number): Promise<Gateway> => openGateway(deps, { host: options.host, port });
      const gateway = await openOnPort(open, options.port, layout, random);
      return {
        url: reachable(gateway.url),
        get clientSessions() {
          return gateway.clientSessions;
        },
        close: () => gateway.close(),
      };
    },
  });
}

/** "Every address" is not one to connect to; on this machine it includes loopback. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
