import {
  CREDENTIAL_LIMITS,
  type VerifiableCredential,
  type VerifiablePresentation,
  verifyCredential,
  verifyPresentation,
} from "@agent/credentials";
import { parseDidKey } from "../expected-key.ts";
import { buildVerdict, type SignerKey } from "../build-verdict.ts";
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
export function checkCredential(credential: object, options: TimedOptions): Verdict {
  const verdict = verifyCredential(credential, { now: options.now });
  return buildVerdict("credential", verdict, checkLevels, getIssuerKey(credential, options));
}

function getIssuerKey(credential: object, { publicKey: namedKeys }: TimedOptions): SignerKey {
  const { issuer, validFrom, validUntil } = credential as Partial<VerifiableCredential>;
  // A relay's credentials are valid for an hour, so one that is signed with a former key and valid for
  // longer was made later, or by a thief.
  const lastIssue = parseTime(validUntil) - CREDENTIAL_LIMITS.defaultValidityMs;
  const signedAt = Math.max(parseTime(validFrom), lastIssue);
  return { key: parseDidKey(issuer), namedKeys, signer: { signedAt } };
}

/** Returns a time in ms; NaN for any other value, which a malformed credential may contain. */
function parseTime(value: unknown): number {
  return typeof value === "string" ? Date.parse(value) : Number.NaN;
}

/**
 * Verifies a presentation, signed by its holder, and its credentials. These may have any issuers, but only
 * credentials of named issuers pass the level `nested`, because a holder can invent an issuer.
 */
export function checkPresentation(presentation: object, options: TimedOptions): Verdict {
  const { holder, verifiableCredential: credentials = [] } =
    presentation as Partial<VerifiablePresentation>;
  const { now, publicKey: namedKeys = [] } = options;
  const result = verifyPresentation(presentation, { now });
  const nested = result.nested.map((inner, index) => {
    const issuerKey = getIssuerKey(credentials[index] ?? {}, { ...options, publicKey: namedKeys });
    const bound = buildVerdict("credential", inner, checkLevels, issuerKey);
    // An issuer need not be named, but a named key that has ended may have been stolen.
    return bound.code === "artifact.key_unbound"
      ? buildVerdict("credential", inner, checkLevels)
      : bound;
  });
  const ended = nested.find(({ code }) => code === "bundle.key_not_in_force")?.code;
  if (result.valid && ended !== undefined) {
    const refusal = { name: "credentials", ok: false, code: ended };
    return buildVerdict(
      "presentation",
      { valid: false, code: ended, checks: [...result.checks, refusal] },
      checkLevels,
      undefined,
      nested,
    );
  }
  const areBound =
    nested.length > 0 &&
    nested.every(({ checks }) => checks.some(({ name, ok }) => name === "key_bound" && ok));
  const checks = result.checks.filter(({ name, ok }) => name !== "credentials" || !ok || areBound);
  const signer = { key: parseDidKey(holder), namedKeys: options.publicKey, signer: {} };
  return buildVerdict("presentation", { ...result, checks }, checkLevels, signer, nested);
}
