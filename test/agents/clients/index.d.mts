export interface Client {
  readonly name: string;
  readonly title: string;
  /** The text of its file, as it stands there. */
  config(
    server: { readonly url: string } | { readonly command: string; readonly args: readonly string[] },
  ): object | string;
}

export const clients: readonly Client[];
