export { createRedactor, type Redactor } from './redactor.ts';
export type { KeyPlace, SecretStore } from './sealed-secrets.ts';
export type { KeyPlaceKind, SealedDocument, SealedSecret } from './sealing.ts';
export { createSecretBook, type SecretBook, type SecretBookDeps, type SecretSummary } from './secret-book.ts';
export { checkSecretName, maxSecretBytes, secretTooLong } from './secret-limits.ts';
export type { ChosenPlace } from './store-key.ts';
export { createTextSeal, type TextSeal } from './text-seal.ts';
