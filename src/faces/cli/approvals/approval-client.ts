import { readAdminToken } from '../../../storage/index.ts';
import {
  type ApprovalDetailBody,
  type ApprovalSummaryBody,
  type ApprovedBody,
  type ApproveOrderBody,
  type ApproverBody,
  approvalDetailSchema,
  approvalListSchema,
  approvalSummarySchema,
  approvedSchema,
  type DenyOrderBody,
  type GrantBody,
  grantListSchema,
  grantSchema,
  type PageUrlBody,
  pageUrlSchema,
} from '../../api/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { findHub } from '../hub/find-hub.ts';
import { createHubClient, type HubClient } from '../hub/hub-client.ts';
import { type JoinedHub, withHub } from '../hub/join-hub.ts';
import { stateLayout } from '../hub/state-layout.ts';
import { loginName } from '../login-name.ts';

/** What the commands ask of the hub. */
export interface ApprovalClient {
  list(all: boolean): Promise<readonly ApprovalSummaryBody[]>;
  show(id: string): Promise<ApprovalDetailBody>;
  approve(id: string, grant: ApproveOrderBody['grant'] | undefined): Promise<ApprovedBody>;
  deny(id: string, denial: Pick<DenyOrderBody, 'reason' | 'suggest'>): Promise<ApprovalSummaryBody>;
  notNow(id: string): Promise<ApprovalSummaryBody>;
  resolve(id: string, ran: boolean): Promise<ApprovalSummaryBody>;
  link(id: string, person: string | undefined): Promise<PageUrlBody>;
  grants(): Promise<readonly GrantBody[]>;
  revoke(grant: string): Promise<GrantBody>;
}

/** Runs a command on the approvals of the workspace's hub. Without one, a hub is started: it alone writes them. */
export async function withApprovals<T>(
  cli: CliContext,
  invocation: Invocation,
  work: (client: ApprovalClient) => Promise<T>,
): Promise<T> {
  const approver = { name: loginName(cli), terminal: cli.stdin.isTTY === true };
  const found = await findHub(cli, invocation.workspace);
  if (found !== undefined) return work(approvalClient(found, approver));
  return withHub(cli, invocation, {}, async (hub) =>
    work(approvalClient(await clientOver(cli, invocation, hub), approver)),
  );
}

async function clientOver(cli: CliContext, { workspace }: Invocation, hub: JoinedHub): Promise<HubClient> {
  const order = { agent: 'operator', operation: { name: 'http', params: {} } };
  const { socket } = await hub.attach(order);
  socket.end();
  const adminToken = await readAdminToken(stateLayout(cli, workspace));
  const connect = async () => (await hub.attach(order)).socket;
  return createHubClient({ url: 'unix:', pid: process.pid, adminToken, connect });
}

function approvalClient(hub: HubClient, approver: ApproverBody): ApprovalClient {
  const at = (id: string, act = ''): string => `/api/approvals/${encodeURIComponent(id)}${act}`;
  return {
    list: async (all) =>
      (await hub.ask('GET', `/api/approvals${all ? '?state=all' : ''}`, approvalListSchema)).approvals,
    show: (id) => hub.ask('GET', at(id), approvalDetailSchema),
    approve: (id, grant) =>
      hub.ask('POST', at(id, '/approve'), approvedSchema, { approver, ...(grant === undefined ? {} : { grant }) }),
    deny: (id, denial) => hub.ask('POST', at(id, '/deny'), approvalSummarySchema, { approver, ...denial }),
    notNow: (id) => hub.ask('POST', at(id, '/not-now'), approvalSummarySchema, { approver }),
    resolve: (id, ran) => hub.ask('POST', at(id, '/resolve'), approvalSummarySchema, { approver, ran }),
    link: (id, person = approver.name) => hub.ask('POST', at(id, '/link'), pageUrlSchema, { approver: person }),
    grants: async () => (await hub.ask('GET', '/api/approvals/grants', grantListSchema)).grants,
    revoke: (id) => hub.ask('DELETE', at('grants', `/${encodeURIComponent(id)}`), grantSchema, { approver }),
  };
}
