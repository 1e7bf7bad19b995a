/** The members of a JSON object in canonical form, or the text itself if it is something else. */
export function memberTexts(text: string): string[] {
  if (!text.startsWith('{') || text === '{}') return [text];
  const members: string[] = [];
  let [depth, start, isInString] = [0, 1, false];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isInString) {
      if (character === '\\') at++;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    if (!isInString && ((character === ',' && depth === 1) || depth === 0)) {
      members.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return members;
}

/** How the arguments of a call differ from those of another one. */
export interface ChangedMembers {
  readonly gone: readonly string[];
  readonly added: readonly string[];
}

export function changedMembers(before: string, now: string): ChangedMembers {
  const [old, current] = [new Set(memberTexts(before)), new Set(memberTexts(now))];
  return {
    gone: [...old].filter((member) => !current.has(member)),
    added: [...current].filter((member) => !old.has(member)),
  };
}
