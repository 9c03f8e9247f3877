import { verifyCredential, verifyPresentation } from "@agent/credentials";
import { parseDidKey } from "../expected-key.ts";
import { buildVerdict } from "../build-verdict.ts";
import type { CheckLevels } from "../assign-proof-levels.ts";
import type { Verdict } from "../verdict.ts";
import type { TimedOptions } from "./options.ts";

const checkLevels: CheckLevels = {
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

/** Verifies a credential, signed by the key of its issuer's did:key. */
export function checkCredential(credential: object, { now, publicKey }: TimedOptions): Verdict {
  const { issuer, validFrom } = credential as { issuer?: unknown; validFrom?: unknown };
  return buildVerdict("credential", verifyCredential(credential, { now }), checkLevels, {
    key: parseDidKey(issuer),
    namedKeys: publicKey,
    signer: { signedAt: Date.parse(String(validFrom)) },
  });
}

/** Verifies a presentation, signed by its holder, and its credentials, signed by any issuers. */
export function checkPresentation(presentation: object, { now, publicKey }: TimedOptions): Verdict {
  const { holder } = presentation as { holder?: unknown };
  const verdict = verifyPresentation(presentation, { now });
  const signer = { key: parseDidKey(holder), namedKeys: publicKey, signer: {} };
  return buildVerdict(
    "presentation",
    verdict,
    checkLevels,
    signer,
    verdict.nested.map((inner) => buildVerdict("credential", inner, checkLevels)),
  );
}
