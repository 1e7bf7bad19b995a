/** Removes secrets from output and logs, once the configuration is known. */
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
