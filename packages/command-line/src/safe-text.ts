/** Characters that would move the cursor, hide text or turn its direction. */
const UNSAFE = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Shows control characters and marks of direction as what they are. */
export function makeSafe(text: string): string {
  return text.replace(UNSAFE, (character) => `<${toHex(character)}>`);
}

/** Formats a value as JSON that a terminal can show; a program that parses it gets the same value. */
export function formatSafeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(UNSAFE, (character) => `\\u${toHex(character)}`);
}

const toHex = (character: string) => character.charCodeAt(0).toString(16).padStart(4, "0");
