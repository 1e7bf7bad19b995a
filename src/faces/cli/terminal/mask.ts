/** Removes secrets from output and logs, once the configuration is known. */
export interface Mask {
  text(text: string): string;
  json(text: string): string;
  use(redactor: Redactor): void;
}

/** The value with all texts in it masked, names of members too. Tells nothing by the name of a member. */
export function maskTexts<T>(mask: Pick<Mask, 'text'>, value: T): T {
  return JSON.parse(JSON.stringify(value), (_key, member: unknown) => {
    if (typeof member === 'string') return mask.text(member);
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).map(([name, each]) => [mask.text(name), each]));
  }) as T; // only texts are replaced
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
