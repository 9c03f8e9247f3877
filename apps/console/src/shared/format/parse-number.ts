/** Parses digits with an optional fraction; undefined for any other text, blanks included. */
export const parseNumber = (text = ""): number | undefined =>
  /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
