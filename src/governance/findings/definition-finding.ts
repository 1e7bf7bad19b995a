/** Something in a definition that a person should look at. The hub passes the definition on as the server wrote it. */
export interface DefinitionFinding {
  /** A hash of the finding and of the text it is about. A changed text is a new finding. */
  readonly id: string;
  readonly kind: FindingKind;
  readonly severity: 'warning' | 'note';
  readonly server: string;
  /** A tool, `prompt:<name>` or `resource:<uri>`. Null: several tools of the server. */
  readonly subject: string | null;
  /** Dotted path of the text in the definition. */
  readonly at: string;
  /** One sentence. Hidden characters in quoted text are spelled out. */
  readonly message: string;
  /** A person looked at it and gave a reason why it may stay. */
  readonly acknowledged: boolean;
}

export type FindingKind =
  | 'hidden-characters'
  | 'text-direction'
  | 'instruction'
  | 'same-name'
  | 'look-alike-name'
  | 'foreign-tool';

/** A finding that one text alone gives rise to. */
export interface TextFinding {
  readonly kind: FindingKind;
  readonly severity: DefinitionFinding['severity'];
  readonly at: string;
  /** Tells findings of one kind in one text apart. Part of the id, so it stays as it is. */
  readonly rule: string;
  /** What the text does or has, as the end of a sentence that begins with the tool. `quote` is for text from outside. */
  readonly says: (quote: Quote) => string;
  /** The whole text, for the id. */
  readonly text: string;
}

/** Makes a part of a text from outside fit to be shown. */
export type Quote = (text: string) => string;
