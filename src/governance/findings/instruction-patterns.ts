import type { Quote, TextFinding } from './definition-finding.ts';
import type { DefinitionText } from './definition-texts.ts';
import { withoutHidden } from './hidden-characters.ts';

interface InstructionPattern {
  readonly rule: string;
  readonly severity: TextFinding['severity'];
  readonly says: string;
  /** On text in compatibility form with single spaces. */
  readonly pattern: RegExp;
  /** It may match a part of a secret, which nobody would recognise. */
  readonly isFragment?: true;
}

/**
 * Known ways to give a model orders through a definition. Short on purpose: each was seen in an attack, and none is in the
 * servers that the tests know. A `note` is also found in honest servers.
 */
const patterns: readonly InstructionPattern[] = [
  {
    rule: 'override',
    severity: 'warning',
    says: 'tells the model to ignore other instructions',
    pattern:
      /\b(?:ignore|disregard|forget|override|bypass)(?: \w{1,20}){0,3} (?:(?:previous|prior|preceding|above|earlier)(?: \w{1,20}){0,2} (?:rules|messages|constraints|context)|(?:previous|prior|preceding|above|earlier|other|existing|system|all|any|your)(?: \w{1,20}){0,2} (?:instructions?|prompts?|guidelines|directives))\b/i,
  },
  {
    rule: 'conceal',
    severity: 'warning',
    says: 'tells the model to keep something from the user',
    pattern:
      /\b(?:(?:do not|don't|don’t|never|must not|should not)(?: \w{1,20}){0,2} (?:tell|mention|inform|reveal|disclose|notify|alert|show|let)|without (?:telling|mentioning|informing|revealing|disclosing))(?: [^ .!?;]{1,30}){0,8} (?:user|human|person|operator)s?\b/i,
  },
  {
    rule: 'system-markup',
    severity: 'warning',
    says: 'has markup of system messages',
    pattern:
      /<\/?(?:system[-_ ]?(?:reminder|prompt|message|instructions?)|hidden(?:[-_ ]instructions?)?)>|<\/(?:system|assistant|secret)>|<\|[a-z_]{2,20}\|>|\[\/?inst\]|<<\/?sys>>/i,
  },
  {
    rule: 'emphasis',
    severity: 'note',
    says: "has markup that draws a model's attention",
    pattern: /<\/?(?:important|critical|instructions?|mandatory|urgent)>/i,
  },
  {
    rule: 'key-files',
    severity: 'warning',
    says: 'tells the model to use a file with keys',
    pattern:
      /\b(?:read|send|include|pass|attach|upload|copy|cat|open|paste|provide|share|put) [^.!?]{0,80}(?:(?:~|\$home)\/\.(?:ssh|aws|gnupg|cursor|claude)\b|\bid_(?:rsa|ed25519|ecdsa)\b|\/etc\/(?:passwd|shadow)\b|\.cursor\/mcp\.json|\.aws\/credentials)/i,
  },
  {
    rule: 'every-tool',
    severity: 'note',
    says: 'asks to be used with every other tool',
    pattern: /\b(?:before|instead of|prior to|whenever)(?: \w{1,20}){0,3} (?:any|every|all)(?: other)? tools?\b/i,
  },
  {
    rule: 'comment',
    severity: 'note',
    says: 'has text in a comment, which is not shown as Markdown',
    pattern: /<!--[^>]{12}/,
    isFragment: true,
  },
  {
    rule: 'encoded',
    severity: 'note',
    says: 'has a long text that nobody can read',
    pattern: /[a-z0-9+/]{240}/i,
    isFragment: true,
  },
];

/** Sorting a long run of combining marks takes quadratic time. No language has more than 30 in a row. */
function normalized(text: string): string {
  return text.replace(/(\p{M}{30})\p{M}+/gu, '$1').normalize('NFKC');
}

export function findInstructions({ at, text, use }: DefinitionText): readonly TextFinding[] {
  const plain = withoutHidden(normalized(text)).replace(/\s+/g, ' ');
  const found = patterns.flatMap(({ rule, severity, says, pattern, isFragment }): TextFinding[] => {
    const [match] = pattern.exec(plain) ?? [];
    if (match === undefined) return [];
    // A secret in a text that was changed would not be recognised, so only what is there is quoted.
    const tell = (quote: Quote): string =>
      isFragment !== true && text.includes(match) ? `${says}, ${quote(match)}` : says;
    return [{ kind: 'instruction', rule, severity, at, says: tell, text }];
  });
  if (use !== 'prose' || !hasFarText(text)) return found;
  const says = (): string => 'has text far below or beside the rest';
  return [...found, { kind: 'instruction', rule: 'far-text', severity: 'warning', at, says, text }];
}

/** Whether so much white space lies before a part of the text that a person would not scroll to it. */
function hasFarText(text: string): boolean {
  return (text.trim().match(/\s+/g) ?? []).some((gap) => gap.length >= farAway);
}

const farAway = 200;
