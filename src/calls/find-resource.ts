import { maxUriLength } from '../domain/index.ts';
import { type Found, type Offer, readable } from './offers.ts';
import type { ResourceNames } from './resource-names.ts';
import type { Shelf } from './shelves.ts';

/**
 * Whose resource a URI is. What the agent may not read is passed over as if it did not exist, so that nothing can be
 * learnt from where a URI leads.
 */
export function createResourceFinder(
  offers: readonly Offer[],
  listed: Shelf,
  names: ResourceNames,
): (uri: string) => Found | undefined {
  const reading = offers.filter(({ catalog }) => catalog.abilities.resources);
  const forms = reading.flatMap((offer) => offer.readings.templates.map((template) => ({ offer, template })));
  // Sorting is stable: of equals the server that was configured first has it.
  forms.sort((a, b) => b.template.form.literalStart.length - a.template.form.literalStart.length);
  const plainForms = forms.filter(({ template }) => template.form.literalStart.includes(':'));
  const openForms = forms.filter(({ template }) => !template.form.literalStart.includes(':'));
  const schemes = new Map(reading.map((offer) => [offer, schemesOf(offer)]));

  function byForm(candidates: typeof forms, uri: string, readableBy: ReadableBy): Found | undefined {
    for (const { offer, template } of candidates) {
      if (!uri.startsWith(template.form.literalStart)) continue;
      // The decision is the same for all templates of a server, and matching is dear.
      const found = readableBy(offer);
      if (found !== undefined && template.form.match(uri) !== undefined) return found;
    }
    return undefined;
  }

  /** Links in results often name resources that are in no list. */
  function byScheme(uri: string, readableBy: ReadableBy): Found | undefined {
    const scheme = schemeOf(uri);
    if (scheme === undefined) return undefined;
    const found = reading.flatMap((offer) =>
      schemes.get(offer)?.has(scheme) === true ? (readableBy(offer) ?? []) : [],
    );
    return found.length === 1 ? found[0] : undefined;
  }

  return (uri) => {
    const long = names.readLong(uri);
    if (long !== undefined) {
      const offer = reading.find(({ server }) => server === long.server);
      return offer && readable(offer, 'resource', long.own);
    }
    if (uri.length > maxUriLength) return undefined;
    const item = listed.get(uri);
    const held = item && readable(item.offer, 'resource', item.own);
    // A template that begins with a variable fits everything; it gets what nobody else has.
    if (held !== undefined) return held;
    const readableBy = decideOnce(uri);
    return byForm(plainForms, uri, readableBy) ?? byScheme(uri, readableBy) ?? byForm(openForms, uri, readableBy);
  };
}

/** What a server has under one URI, if the agent may read it. */
type ReadableBy = (offer: Offer) => Found | undefined;

function decideOnce(uri: string): ReadableBy {
  const known = new Map<Offer, Found | undefined>();
  return (offer) => {
    if (!known.has(offer)) known.set(offer, readable(offer, 'resource', uri));
    return known.get(offer);
  };
}

function schemesOf({ catalog, readings }: Offer): ReadonlySet<string> {
  const texts = [
    ...catalog.resources.map(({ uri }) => uri),
    ...readings.templates.map(({ form }) => form.literalStart),
  ];
  return new Set(texts.flatMap((text) => schemeOf(text) ?? []));
}

function schemeOf(uri: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*(?=:)/i.exec(uri)?.[0].toLowerCase();
}
