import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, version } from '../../base/index.ts';
import type { Hub } from '../../hub/index.ts';
import type { Meter } from './call-counters.ts';
import { expositionText, expositionType } from './exposition.ts';
import { familiesOf } from './families.ts';

export interface MetricsDeps {
  readonly hub: Hub;
  readonly meter: Meter;
  readonly clock: Clock;
  /** Compares in constant time. */
  isAdmin(token: string): boolean;
  clientSessions(): number;
}

export type MetricsHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers `/metrics`, to the operator alone: names of servers are nobody else's business. */
export function createMetrics(deps: MetricsDeps): MetricsHandler {
  const { hub, meter, clock } = deps;
  const startedAtSeconds = clock.now() / 1000 - process.uptime();

  function text(): string {
    const servers = hub.status();
    meter.keep(new Set(servers.map(({ name }) => name)));
    const now = {
      servers,
      load: hub.load(),
      callsInFlight: hub.callsInFlight,
      approvals: hub.approvals.numbers,
      clientSessions: deps.clientSessions(),
      children: hub.childrenRunning,
      ledgerGood: hub.ledger.health === 'good',
      residentBytes: process.memoryUsage.rss(),
      startedAtSeconds,
      version,
      node: process.versions.node,
    };
    return expositionText(familiesOf(now, meter));
  }

  return (request, response) => {
    const token = /^bearer +(\S{1,300})$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined || !deps.isAdmin(token)) send(response, 401, unauthenticated, challenge);
    else if (request.method === 'GET' || request.method === 'HEAD') send(response, 200, text(), exposition);
    else send(response, 405, 'Only GET.\n', { 'content-type': plainType, allow: 'GET, HEAD' });
  };
}

const plainType = 'text/plain; charset=utf-8';
const exposition = { 'content-type': expositionType, 'cache-control': 'no-store' };
const challenge = { 'content-type': plainType, 'www-authenticate': 'Bearer realm="quartermaster"' };
const unauthenticated =
  'Metrics need the admin token. Send "Authorization: Bearer <token>" with the token from the file admin-token; `qm state path` prints its folder.\n';

function send(response: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>>): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) }).end(text);
}
