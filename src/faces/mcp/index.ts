export { admitTask } from './admit-task.ts';
export { operationAnswer } from './answer-text.ts';
export { Conversation } from './conversation.ts';
export { batchVersion, invalidMessage, methodNotFound } from './faults.ts';
export { LegacyClient } from './legacy-client.ts';
export { listPatience, modernListPatience } from './list-patience.ts';
export {
  changeMethods,
  isList,
  type KnownLists,
  knownLists,
  type ListName,
  listAnswer,
  takeChanges,
} from './lists.ts';
export {
  isOperation,
  isTaskOperation,
  type Operation,
  operationOf,
  type Request,
  type Underway,
  wantsProgress,
} from './operations.ts';
export { createRounds, isSpokenTo, parkedLimits, principalOf, type Rounds } from './rounds.ts';
export { discoverResult, initializeResult } from './server-card.ts';
export {
  acknowledgement,
  type ListenFilter,
  listChange,
  listenFilter,
  resourceChange,
  subscriptionEnd,
} from './subscription.ts';
export { type WatchedResources, watchResources } from './watched-resources.ts';
