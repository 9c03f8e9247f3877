import { ENTRY_BYTES } from "./entry.ts";
import { TILE_WIDTH } from "../tree/tile-path.ts";

const LENGTH_BYTES = 2;

/** The entries of a bundle, or the refusal of malformed bytes. */
export type ParseEntryBundleResult =
  | { readonly ok: true; readonly entries: readonly Uint8Array[] }
  | { readonly ok: false; readonly code: "log.malformed" };

/** Joins entries into a bundle, each preceded by its length in two bytes (C2SP tlog-tiles). */
export function formatEntryBundle(entries: readonly Uint8Array[]): Uint8Array {
  const bundle = new Uint8Array(entries.length * (LENGTH_BYTES + ENTRY_BYTES));
  entries.forEach((entry, position) => {
    const start = position * (LENGTH_BYTES + ENTRY_BYTES);
    new DataView(bundle.buffer).setUint16(start, ENTRY_BYTES);
    bundle.set(entry, start + LENGTH_BYTES);
  });
  return bundle;
}

/**
 * Splits a bundle of `width` entries; a different number or length of entries is refused with
 * `log.malformed`.
 */
export function parseEntryBundle(bundle: Uint8Array, width: number): ParseEntryBundleResult {
  const stride = LENGTH_BYTES + ENTRY_BYTES;
  const malformed = { ok: false, code: "log.malformed" } as const;
  if (width > TILE_WIDTH || bundle.length !== width * stride) return malformed;
  const view = new DataView(bundle.buffer, bundle.byteOffset, bundle.length);
  const entries: Uint8Array[] = [];
  for (let start = 0; start < bundle.length; start += stride) {
    if (view.getUint16(start) !== ENTRY_BYTES) return malformed;
    entries.push(bundle.slice(start + LENGTH_BYTES, start + stride));
  }
  return { ok: true, entries };
}
