import { verifyCredential, verifyPresentation } from "@agent/credentials";
import { keyOfDid } from "../bound-key.ts";
import { conclude } from "../conclude.ts";
import type { Places } from "../place-checks.ts";
import type { Verdict } from "../verdict.ts";
import type { TimedOptions } from "./options.ts";

const PLACES: Places = {
  structure: "well_formed",
  suite: "well_formed",
  purpose: "well_formed",
  key: "well_formed",
  proof_context: "well_formed",
  subject: "well_formed",
  type: "well_formed",
  issuer: "intact",
  holder: "intact",
  signature: "intact",
  valid_from: "key_valid",
  valid_until: "key_valid",
  status: "key_valid",
  credentials: "nested",
};

/** The verdict on a credential, which is signed by the key that its issuer's did:key is. */
export function judgeCredential(credential: object, { now, publicKey }: TimedOptions): Verdict {
  const { issuer } = credential as { issuer?: unknown };
  return conclude("credential", verifyCredential(credential, { now }), PLACES, {
    key: keyOfDid(issuer),
    named: publicKey,
  });
}

/** The verdict on a presentation, signed by its holder, and on each credential, signed by any issuer. */
export function judgePresentation(presentation: object, { now, publicKey }: TimedOptions): Verdict {
  const { holder } = presentation as { holder?: unknown };
  const verdict = verifyPresentation(presentation, { now });
  const signer = { key: keyOfDid(holder), named: publicKey };
  return conclude(
    "presentation",
    verdict,
    PLACES,
    signer,
    verdict.nested.map((inner) => conclude("credential", inner, PLACES)),
  );
}
