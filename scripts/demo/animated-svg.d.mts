import type { Run } from './terminal-screen.mjs';

export interface Scene {
  readonly seconds: number;
  readonly shots: readonly {
    readonly at: number;
    readonly row: number;
    readonly typed?: string;
    readonly lines?: readonly (readonly Run[])[];
  }[];
}
export function animatedSvg(
  scenes: readonly Scene[],
  screen: { readonly columns: number; readonly rows: number; readonly title: string },
): string;
export function typingTime(command: string): number;
