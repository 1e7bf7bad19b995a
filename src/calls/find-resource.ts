import { type Found, found, type Offer } from './offers.ts';
import type { ResourceNames } from './resource-names.ts';
import type { Shelf } from './shelves.ts';

/** Longer ones are nobody's. */
const maxUriLength = 4096;

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

  function byForm(candidates: typeof forms, uri: string): Found | undefined {
    for (const { offer, template } of candidates) {
      if (template.form.match(uri) === undefined) continue;
      const it = found(offer, 'resource', uri);
      if (it !== undefined) return it;
    }
    return undefined;
  }

  /** Links in results often name resources that are in no list. */
  function byScheme(uri: string): Found | undefined {
    const scheme = schemeOf(uri);
    if (scheme === undefined) return undefined;
    const all = reading.flatMap((offer) =>
      schemes.get(offer)?.has(scheme) === true ? (found(offer, 'resource', uri) ?? []) : [],
    );
    return all.length === 1 ? all[0] : undefined;
  }

  return (uri) => {
    if (uri.length > maxUriLength) return undefined;
    const long = names.readLong(uri);
    if (long !== undefined) {
      const offer = reading.find(({ server }) => server === long.server);
      return offer && found(offer, 'resource', long.own);
    }
    const item = listed.get(uri);
    const held = item && found(item.offer, 'resource', item.own);
    // A template that begins with a variable fits everything; it gets what nobody else has.
    return held ?? byForm(plainForms, uri) ?? byScheme(uri) ?? byForm(openForms, uri);
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
