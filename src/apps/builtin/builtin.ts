import type { Clock, Logger } from '../../base/index.ts';
import type { ServedTool } from '../serving/index.ts';

/** How one of the servers that come with the product is used. */
export interface BuiltinUsage {
  /** The word after `qm builtin`, and after `builtin:` in a configuration. */
  readonly name: string;
  /** One line, for help. */
  readonly summary: string;
  readonly options: readonly BuiltinOption[];
  /** Variables that it reads from its environment. */
  readonly variables: readonly { readonly name: string; readonly required: boolean; readonly purpose: string }[];
}

export interface BuiltinKind extends BuiltinUsage {
  /** Rejects with a HubError, USAGE or CONFIG_INVALID, where it cannot work so. It need not have reached anything yet. */
  open(settings: BuiltinSettings, deps: BuiltinDeps): Promise<BuiltinServer>;
}

export interface BuiltinOption {
  /** Without the dashes. */
  readonly name: string;
  /** What the value is, for help: `SECONDS`. */
  readonly value: string;
  readonly purpose: string;
  /** It may be given several times. */
  readonly multiple?: true;
}

/** What a program is given, whether it is one of its own or runs inside the hub. */
export interface BuiltinSettings {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

export interface BuiltinDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Open, and serving one connection. */
export interface BuiltinServer {
  /** For the model: what this server is good for, and its bounds. */
  readonly instructions: string;
  readonly tools: readonly ServedTool[];
  /** Rejects with a HubError where what it stands for does not answer now; nobody is served then. */
  reach?(): Promise<void>;
  /** Gives back what it holds; calls under way have been told by their signals. */
  close(): Promise<void>;
}
