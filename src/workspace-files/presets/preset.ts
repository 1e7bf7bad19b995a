/** A server that many teams want, as plain data: what is written into a workspace, and what people are shown of it. */
export interface Preset {
  readonly id: string;
  /** A pattern is for a service that every team runs or rents in its own way; its file is where to begin. */
  readonly kind: 'preset' | 'pattern';
  readonly title: string;
  /** One line. */
  readonly description: string;
  readonly category: PresetCategory;
  readonly transport: PresetTransport;
  /** Other ways to the same server, tried in this order. */
  readonly fallback: readonly PresetTransport[];
  readonly variables: readonly PresetVariable[];
  readonly login: PresetLogin;
  readonly scopes: readonly string[];
  readonly guards: PresetGuards;
  /** All that the server offers through the hub; absent: everything. */
  readonly tools?: readonly string[];
  readonly limits: { readonly ratePerMin?: number; readonly timeoutS: number };
  /** What an agent can do while the server is away. */
  readonly instead: string;
  readonly notes: string;
  /** Which role gets what, as a suggestion. */
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

/** Texts may hold variables, as in any configuration. */
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
  /** Without a required one the server is invalid, and says so. */
  readonly required: boolean;
  readonly purpose: string;
}

export interface PresetLogin {
  /** `browser`: a person logs in at the provider; where none can, a token in the variable does. */
  readonly kind: 'none' | 'key' | 'token' | 'browser';
  /** The variable that holds the key or the token; null where there is nothing to log in to. */
  readonly variable: string | null;
}

export interface PresetGuards {
  /** Anything but a clear no keeps it up; a variable in it can lower it. */
  readonly readOnly?: string;
  readonly writeRequiresApproval?: true;
}

export const presetRoles = ['lead', 'backend-dev', 'frontend-dev', 'tester', 'designer', 'scribe'] as const;

export type PresetRole = (typeof presetRoles)[number];

/** Everything that the server offers, nothing, or these tools. */
export type PresetRoute = 'all' | 'none' | readonly string[];
