export interface Run {
  readonly column: number;
  readonly text: string;
  readonly style: string;
}
export function screenOf(output: string, columns: number): Run[][];
