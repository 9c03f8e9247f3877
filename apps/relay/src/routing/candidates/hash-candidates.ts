import { createHash } from "node:crypto";
import type { Steps } from "@agent/routing-semiring";

const DIGEST_BYTES = 32;
const DIGESTS_PER_STEP = 8_192;

/** Returns the SHA-256 of the digests of all candidates in order, 64 hex digits. */
export function* hashDigests(digests: readonly Buffer[]): Steps<string> {
  const hash = createHash("sha256");
  const joined = Buffer.alloc(DIGEST_BYTES * Math.min(digests.length, DIGESTS_PER_STEP));
  for (let at = 0; at < digests.length; at += DIGESTS_PER_STEP) {
    if (at > 0) yield;
    const end = Math.min(digests.length, at + DIGESTS_PER_STEP);
    for (let place = at; place < end; place += 1) {
      joined.set(digests[place]!, DIGEST_BYTES * (place - at));
    }
    hash.update(joined.subarray(0, DIGEST_BYTES * (end - at)));
  }
  return hash.digest("hex");
}
