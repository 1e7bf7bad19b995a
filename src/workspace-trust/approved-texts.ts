import type { LoadedConfiguration, SourceText } from '../config/index.ts';
import type { PlanFile } from '../domain/index.ts';
import type { Pin, TrustStore } from '../trust/index.ts';

/** The files of the workspace from which something was approved. */
export interface ApprovedTexts {
  readonly texts: ReadonlyMap<string, SourceText>;
  /** Files whose content was approved too. */
  readonly files: readonly PlanFile[];
}

/** Loads approved configurations, each once. */
export class ApprovedLoads {
  readonly #loadTexts: (texts: ReadonlyMap<string, SourceText>) => Promise<LoadedConfiguration>;
  readonly #snapshots = new Map<string, ApprovedTexts['texts'] | undefined>();
  readonly #loaded = new Map<ApprovedTexts['texts'], LoadedConfiguration>();

  readonly #noTexts: ApprovedTexts['texts'] = new Map();

  constructor(loadTexts: (texts: ReadonlyMap<string, SourceText>) => Promise<LoadedConfiguration>) {
    this.#loadTexts = loadTexts;
  }

  /** All that were loaded. */
  all(): Iterable<LoadedConfiguration> {
    return this.#loaded.values();
  }

  async load({ texts }: ApprovedTexts): Promise<LoadedConfiguration> {
    const known = this.#loaded.get(texts);
    if (known !== undefined) return known;
    const loaded = await this.#loadTexts(texts);
    this.#loaded.set(texts, loaded);
    return loaded;
  }

  /** A configuration without any files. */
  nothing(): Promise<LoadedConfiguration> {
    return this.load({ texts: this.#noTexts, files: [] });
  }

  /** Texts that nobody approved as they are. */
  fresh(texts: ApprovedTexts['texts']): Promise<LoadedConfiguration> {
    return this.#loadTexts(texts);
  }

  /** Undefined if the texts cannot be read any more. */
  async pinned(store: TrustStore, { snapshot, files }: Pin): Promise<ApprovedTexts | undefined> {
    const place = `${store.place} ${snapshot}`;
    if (!this.#snapshots.has(place)) this.#snapshots.set(place, asSources(await store.snapshot(snapshot)));
    const texts = this.#snapshots.get(place);
    return texts === undefined ? undefined : { texts, files };
  }
}

function asSources(snapshot: ReadonlyMap<string, string> | undefined): ApprovedTexts['texts'] | undefined {
  return snapshot && new Map([...snapshot].map(([file, text]): [string, SourceText] => [file, { kind: 'text', text }]));
}
