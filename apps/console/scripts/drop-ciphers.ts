import type { Plugin } from "vite";

/**
 * The parts of tweetnacl's single function that encrypt or support Node.js. Each begins with the first text and
 * ends before the second. The minifier then removes the code that only they call.
 */
const UNUSED_PARTS = [
  ["var poly1305 = function(key)", "function crypto_onetimeauth("],
  ["nacl.lowlevel = {", "/* High-level API */"],
  ["nacl.secretbox = function(", "nacl.sign = function("],
  [" else if (typeof require !== 'undefined')", "\n})();"],
] as const;

/**
 * Removes encryption from the source of tweetnacl, because the pages only use signatures. Throws Error if the
 * source has other parts than expected, so that a new version is reviewed before it is built into a page.
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

/** A bundler cannot remove them, because everything is assigned to one object. */
export const dropCiphersPlugin: Plugin = {
  name: "drop-ciphers",
  transform: (source, id) =>
    /\/tweetnacl\/[^/]+\.js$/.test(id) ? { code: dropCiphers(source), map: null } : null,
};
