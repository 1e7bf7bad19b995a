/** Takes secrets out of what people and logs get to read, once the configuration has told them. */
export interface Mask {
  text(text: string): string;
  json(text: string): string;
  use(redactor: Redactor): void;
}

interface Redactor {
  json(text: string): string;
  message(text: string): string;
}

export function createMask(): Mask {
  let redactor: Redactor | undefined;
  return {
    text: (text) => redactor?.message(text) ?? text,
    json: (text) => redactor?.json(text) ?? text,
    use(next) {
      redactor = next;
    },
  };
}
