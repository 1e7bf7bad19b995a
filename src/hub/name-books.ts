import { createNameBook, createResourceNames, type NameBook, type ViewSource } from '../calls/index.ts';
import type { Configuration } from '../domain/index.ts';

type Books = Pick<ViewSource, 'names' | 'promptNames' | 'resourceNames'>;

/**
 * The exposed names of all tools, prompts and resources. They depend only on the configuration and the catalogs:
 * nothing is stored, so two machines with the same files agree.
 */
export interface NameBooks {
  /** Tools and prompts have separate books. */
  of(kind: 'tool' | 'prompt'): NameBook;
  /** New books, which the views fill in configuration order. */
  forViews(): Books;
  adopt(configuration: Configuration): void;
}

export function createNameBooks(first: Configuration): NameBooks {
  let { naming } = first;
  let books = empty();

  function empty(): Books {
    return {
      names: createNameBook(naming),
      promptNames: createNameBook(naming),
      // A URI never gets the prefix of a name.
      resourceNames: createResourceNames(),
    };
  }

  return {
    of: (kind) => (kind === 'tool' ? books.names : books.promptNames),
    forViews() {
      books = empty();
      return books;
    },
    adopt(configuration) {
      naming = configuration.naming;
    },
  };
}
