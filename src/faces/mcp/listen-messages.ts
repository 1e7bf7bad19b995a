import { HubError, isJsonObject } from '../../base/index.ts';
import { metaKeys, type Params, resultReply } from '../../mcp/index.ts';
import { subscriptionResult } from './initialize-result.ts';
import { changeMethods, type ListName, listNames } from './list-changes.ts';

/** The notifications a modern client asks for. */
export interface ListenFilter {
  readonly lists: ReadonlySet<ListName>;
  readonly resources: readonly string[];
}

const listMembers: Readonly<Record<ListName, string>> = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
};

const maxResources = 256;

export function listenFilter(params: Params): ListenFilter {
  const wanted = params.notifications;
  if (!isJsonObject(wanted)) throw new HubError('INVALID_PARAMS', '"notifications" must be an object.');
  const { resourceSubscriptions = [] } = wanted;
  if (!Array.isArray(resourceSubscriptions) || !resourceSubscriptions.every((uri) => typeof uri === 'string')) {
    throw new HubError('INVALID_PARAMS', '"resourceSubscriptions" must be a list of URIs.');
  }
  if (resourceSubscriptions.length > maxResources) {
    throw new HubError('INVALID_PARAMS', `One subscription may name ${maxResources} resources.`);
  }
  return {
    lists: new Set(listNames.filter((list) => wanted[listMembers[list]] === true)),
    resources: [...new Set<string>(resourceSubscriptions)],
  };
}

/** The first message of a subscription: the notifications that were granted. */
export function acknowledgement(idText: string, { lists, resources }: ListenFilter): string {
  const granted = {
    ...Object.fromEntries([...lists].map((list) => [listMembers[list], true])),
    ...(resources.length === 0 ? {} : { resourceSubscriptions: resources }),
  };
  return message('notifications/subscriptions/acknowledged', idText, `"notifications":${JSON.stringify(granted)}`);
}

export function listChange(list: ListName, idText: string): string {
  return message(changeMethods[list], idText, '');
}

export function resourceChange(uri: string, idText: string): string {
  return message('notifications/resources/updated', idText, `"uri":${JSON.stringify(uri)}`);
}

export function subscriptionEnd(idText: string): string {
  return resultReply(idText, subscriptionResult(idText));
}

/** A message of a subscription carries the id of the request that opened it. */
function message(method: string, idText: string, members: string): string {
  const tag = `"_meta":{"${metaKeys.subscriptionId}":${idText}}`;
  return `{"jsonrpc":"2.0","method":"${method}","params":{${members === '' ? '' : `${members},`}${tag}}}`;
}
