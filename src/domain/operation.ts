/** What a caller may do with a server. */
export type OperationKind = 'tool' | 'resource' | 'subscription' | 'prompt' | 'completion';
