import { createHash, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { type Clock, HubError } from '../base/index.ts';

export interface StateClaims {
  /**
   * 'relay': the upstream server's own requestState is inside; 'parked': the id of a call that
   * waits in this process; 'again': the call is simply sent again.
   */
  readonly kind: 'relay' | 'parked' | 'again';
  /** The upstream state, byte-exact, or the id of the parked call. Empty for 'again'. */
  readonly value: string;
  /** Who got it: only that principal may bring it back. */
  readonly principal: string;
  /** What it belongs to: method and target and arguments, in any one text that the caller makes. */
  readonly subject: string;
}

/**
 * The requestState of an `input_required` result: what the hub has to know when the client comes
 * again, kept by the client. It is signed, not secret, and valid until it expires: whoever must not
 * see it twice remembers what it has seen.
 */
export interface RequestStates {
  /** Throws for an upstream state so long that it could not be opened again. */
  seal(claims: StateClaims): string;
  /** Undefined when it was not sealed here, was changed, is too old, or belongs to somebody or something else. */
  open(
    text: unknown,
    expected: Pick<StateClaims, 'principal' | 'subject'>,
  ): Pick<StateClaims, 'kind' | 'value'> | undefined;
}

export function createRequestStates(
  deps: { readonly clock: Clock; readonly key: Uint8Array },
  options: { readonly lifeMs: number },
): RequestStates {
  const key = createSecretKey(deps.key);

  /** Covers principal and subject without carrying them: the client brings both with its retry anyway. */
  function sign(content: string, { principal, subject }: Pick<StateClaims, 'principal' | 'subject'>): string {
    return createHmac('sha256', key)
      .update(digest(principal))
      .update(digest(subject))
      .update(content)
      .digest('base64url');
  }

  return {
    seal(claims) {
      const body: Body = [claims.kind, deps.clock.now() + options.lifeMs, claims.value];
      const content = prefix + Buffer.from(JSON.stringify(body)).toString('base64url');
      const text = `${content}.${sign(content, claims)}`;
      if (text.length > maxLength) throw tooLong(claims.value.length);
      return text;
    },
    open(text, expected) {
      if (typeof text !== 'string' || text.length > maxLength || !text.startsWith(prefix)) return undefined;
      const end = text.lastIndexOf('.');
      const content = text.slice(0, end);
      if (!sameText(text.slice(end + 1), sign(content, expected))) return undefined;
      // Signed by this key, so it is what seal() made.
      const body = JSON.parse(Buffer.from(content.slice(prefix.length), 'base64url').toString()) as Body;
      const [kind, expiresAt, value] = body;
      return deps.clock.now() < expiresAt ? { kind, value } : undefined;
    },
  };
}

/** As JSON, which writes half a surrogate pair as an escape, so that UTF-8 loses nothing. */
type Body = readonly [kind: StateClaims['kind'], expiresAt: number, value: string];

/** The version is signed with the rest: no other version's text can pass for this one's. */
const prefix = 'qm1.';
const maxLength = 1024 * 1024;

/** Of a fixed size, so that no end of the one can pass for the start of the other. */
function digest(text: string): Buffer {
  // In UTF-8 all halves of surrogate pairs would look alike.
  return createHash('sha256').update(text, 'utf16le').digest();
}

/** Compares texts, not what they decode to: Base64 has several spellings of the same bytes. */
function sameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function tooLong(length: number): HubError {
  return new HubError('UPSTREAM_GARBLED', `The server wants a state of ${length} characters back, which is too long`, {
    hint: 'The server has to keep its state itself and hand out a short name for it.',
  });
}
