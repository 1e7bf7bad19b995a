export { admitTask } from './admit-task.ts';
export { type CountedAnswers, operationAnswer, type RequestAnswer } from './answer-text.ts';
export { BatchLists } from './batch-lists.ts';
export { Conversation } from './conversation.ts';
export { holdBody } from './held-requests.ts';
export { discoverResult, initializeResult } from './initialize-result.ts';
export { LegacyClient } from './legacy-client.ts';
export { ListAnnouncer, type ListListener } from './list-announcer.ts';
export { addLists, changeMethods, takeChanges } from './list-changes.ts';
export { clientNameOf, listTimeout, modernListClient } from './list-timeout.ts';
export { ListenSubscription } from './listen-subscription.ts';
export { isList, listAnswer, listKinds } from './lists.ts';
export {
  awaitingInputLimits,
  MultiRoundTrips,
  mayReceiveMessages,
} from './multi-round-trips.ts';
export {
  isOperation,
  isTaskOperation,
  type Operation,
  operationOf,
  type Request,
  type StartedCall,
  wantsProgress,
} from './operations.ts';
export { batchVersion, invalidMessage, methodNotFound } from './protocol-errors.ts';
