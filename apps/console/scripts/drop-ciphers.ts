import type { Plugin } from "vite";

/**
 * The parts of tweetnacl's one function that encrypt or serve Node.js: each begins with the first text and
 * ends before the second. What only they call is then left out by the minifier.
 */
const UNUSED_PARTS = [
  ["var poly1305 = function(key)", "function crypto_onetimeauth("],
  ["nacl.lowlevel = {", "/* High-level API */"],
  ["nacl.secretbox = function(", "nacl.sign = function("],
  [" else if (typeof require !== 'undefined')", "\n})();"],
] as const;

/**
 * Cuts encryption out of the text of tweetnacl, of which the pages use signatures only. Throws Error if the
 * text has other parts than expected, so that a new version is looked at before it is built into a page.
 */
export function dropCiphers(source: string): string {
  return UNUSED_PARTS.reduce((text, [from, to]) => {
    const start = text.indexOf(from);
    const end = text.indexOf(to, start);
    if (start < 0 || end < 0 || text.indexOf(from, start + 1) >= 0)
      throw new Error(`tweetnacl has changed: no single part begins with "${from}"`);
    return text.slice(0, start) + text.slice(end);
  }, source);
}

/** A bundler cannot do this, because everything is assigned to one object. */
export const dropCiphersPlugin: Plugin = {
  name: "drop-ciphers",
  transform: (source, id) =>
    /\/tweetnacl\/[^/]+\.js$/.test(id) ? { code: dropCiphers(source), map: null } : null,
};
