/** What a caller may do with a server. */
export type OperationKind = 'tool' | 'resource' | 'subscription' | 'prompt' | 'completion' | TaskKind;

/** What a caller may do with a task that a call of its own became. */
export type TaskKind = 'task-get' | 'task-update' | 'task-cancel';
