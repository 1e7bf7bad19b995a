/** A popular server as plain data: the file written into a workspace, and the text shown to people. */
export interface Preset {
  readonly id: string;
  /** A pattern is for a service that every team runs or rents in its own way; its file is a starting point. */
  readonly kind: 'preset' | 'pattern';
  readonly title: string;
  /** One line. */
  readonly description: string;
  readonly category: PresetCategory;
  readonly transport: PresetTransport;
  /** Other transports to the same server, tried in this order. */
  readonly fallback: readonly PresetTransport[];
  readonly variables: readonly PresetVariable[];
  readonly login: PresetLogin;
  readonly scopes: readonly string[];
  readonly guards: PresetGuards;
  /** The only tools the hub exposes. Default: all. */
  readonly tools?: readonly string[];
  readonly limits: { readonly ratePerMin?: number; readonly timeoutS: number };
  /** What an agent can do while the server is unavailable. */
  readonly instead: string;
  readonly notes: string;
  /** The suggested route for each role. */
  readonly routes: Readonly<Record<PresetRole, PresetRoute>>;
}

export type PresetCategory =
  | 'files and code'
  | 'memory'
  | 'web'
  | 'database'
  | 'documentation'
  | 'project management'
  | 'communication';

/** Texts may contain variables, as in any configuration. */
export type PresetTransport =
  | { readonly type: 'http' | 'sse'; readonly url: string; readonly headers?: Readonly<Record<string, string>> }
  | {
      readonly type: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    }
  | {
      readonly type: 'builtin';
      readonly builtin: string;
      readonly args?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    };

export interface PresetVariable {
  readonly name: string;
  /** Without a required variable the server is invalid and reports it. */
  readonly required: boolean;
  readonly purpose: string;
}

export interface PresetLogin {
  /** `browser`: a person logs in at the provider. Where nobody can, a token in the variable replaces the login. */
  readonly kind: 'none' | 'key' | 'token' | 'browser';
  /** The variable with the key or token; null if no login is needed. */
  readonly variable: string | null;
}

export interface PresetGuards {
  /** May be a variable. The guard stays on unless the value is clearly false. */
  readonly readOnly?: string;
  readonly writeRequiresApproval?: true;
}

export const presetRoles = ['lead', 'backend-dev', 'frontend-dev', 'tester', 'designer', 'scribe'] as const;

export type PresetRole = (typeof presetRoles)[number];

/** All tools, none, or these. */
export type PresetRoute = 'all' | 'none' | readonly string[];
