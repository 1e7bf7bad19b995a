import { isJsonObject } from '../../base/index.ts';

/** A text in a definition. */
export interface DefinitionText {
  /** Dotted path. */
  readonly at: string;
  readonly text: string;
  /** `name`: identifies something, so no character in it may be invisible. `prose`: explains something to the model. */
  readonly use: 'name' | 'prose' | 'value';
}

/** Every text that a model may read in a definition: names, descriptions, keys and values of schemas. */
export function textsOf(definition: unknown): readonly DefinitionText[] {
  const texts: DefinitionText[] = [];
  collect(definition, '', texts);
  return texts;
}

/** Definitions are at most 64 levels deep when they are read from a server. */
function collect(value: unknown, at: string, texts: DefinitionText[]): void {
  if (typeof value === 'string') texts.push({ at, text: value, use: useOf(at) });
  else if (Array.isArray(value)) for (const item of value) collect(item, at, texts);
  else if (isJsonObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      // Images for people. No model reads them.
      if (key === 'icons') continue;
      const place = at === '' ? key : `${at}.${key}`.slice(0, longestPlace);
      if (!plainKey.test(key)) texts.push({ at: place, text: key, use: 'name' });
      collect(inner, place, texts);
    }
  }
}

const longestPlace = 200;
const plainKey = /^[\w$-]{1,64}$/;

function useOf(at: string): DefinitionText['use'] {
  if (at === 'name' || at === 'uri' || at === 'uriTemplate') return 'name';
  return /(?:^|\.)(?:description|title)$/.test(at) ? 'prose' : 'value';
}
