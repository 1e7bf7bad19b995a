/** The operations that a caller can perform on a server. */
export type OperationKind = 'tool' | 'resource' | 'subscription' | 'prompt' | 'completion' | TaskKind;

/** The operations on a task that one of the caller's own calls became. */
export type TaskKind = 'task-get' | 'task-update' | 'task-cancel';
