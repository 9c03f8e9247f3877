import { parseJsonText } from "@agent/crypto";
import { checkCredential, checkPresentation } from "./artifacts/credential.ts";
import { checkDelegationToken } from "./artifacts/delegation-token.ts";
import { checkLedger } from "./artifacts/ledger.ts";
import type { TimedOptions, VerifyOptions } from "./artifacts/options.ts";
import { checkNamedReceipt } from "./artifacts/receipt.ts";
import { checkRelaySuccession } from "./artifacts/relay-succession.ts";
import { checkAttestation, checkNoShow, checkSettlement } from "./artifacts/relay-record.ts";
import { checkSuccession } from "./artifacts/succession.ts";
import { verifyBundle } from "./bundle/verify-bundle.ts";
import type { ArtifactKind } from "./kind.ts";
import { withRelayKeys } from "./list-relay-keys.ts";
import { detectKind, type JsonKind } from "./detect-kind.ts";
import { checkLogText, detectLogText } from "./log/check-log-text.ts";
import type { GeneralRefusal } from "./refusals.ts";
import type { Verdict } from "./verdict.ts";

/**
 * Verifies any artifact, given as a value or as its text, by the rules of its kind, which is
 * detected (docs/verifying.md). Never throws on a value: a refused artifact has a `code` of
 * ArtifactRefusal; those with `artifact.unreadable` and `artifact.unrecognised` have no kind.
 */
export function verifyArtifact(artifact: unknown, options: VerifyOptions = {}): Verdict {
  const logText = typeof artifact === "string" ? detectLogText(artifact) : null;
  if (logText !== null) return checkLogText(logText, artifact as string, options.log);
  const parsed = typeof artifact === "string" ? parseJsonText(artifact) : { value: artifact };
  if (parsed === null) return buildGeneralRefusal("artifact.unreadable");
  const kind = detectKind(parsed.value);
  if (kind === null) return buildGeneralRefusal("artifact.unrecognised");
  // The text of a bundle must be canonical, so the original text is passed on.
  if (kind === "bundle") return verifyBundle(artifact, options);
  return checkArtifact(kind, parsed.value as object, withRelayKeys(options));
}

function checkArtifact(
  kind: Exclude<JsonKind, "bundle">,
  value: object,
  options: VerifyOptions,
): Verdict {
  switch (kind) {
    case "receipt":
      return checkNamedReceipt(value, options);
    case "ledger":
      return checkLedger(value, options);
    case "succession":
      return checkSuccession(value, options);
    case "relay_succession":
      return checkRelaySuccession(value, options);
    case "settlement":
      return checkSettlement(value, options);
    case "no_show":
      return checkNoShow(value, options);
    case "attestation":
      return checkAttestation(value, options);
    case "credential":
    case "presentation":
    case "delegation_token": {
      const { now } = options;
      return now === undefined
        ? buildClockRefusal(timedChecks[kind](value, { ...options, now: 0 }))
        : timedChecks[kind](value, { ...options, now });
    }
  }
}

const timedChecks = {
  credential: checkCredential,
  presentation: checkPresentation,
  delegation_token: checkDelegationToken,
} satisfies Partial<Record<ArtifactKind, (value: object, options: TimedOptions) => Verdict>>;

/** Reduces a verdict that needs a clock to whether the artifact is malformed or well-formed. */
function buildClockRefusal(verdict: Verdict): Verdict {
  const formed = verdict.checks.filter(({ name }) => name === "well_formed");
  if (formed.some(({ ok }) => !ok)) return verdict;
  const code = "artifact.clock_missing";
  const checks = [...formed, { name: "key_valid", ok: false, code } as const];
  return { kind: verdict.kind, valid: false, code, checks, nested: [] };
}

/** Returns the refusal of an artifact whose kind is not known. */
export function buildGeneralRefusal(code: GeneralRefusal): Verdict {
  const checks = [{ name: "well_formed", ok: false, code }] as const;
  return { kind: null, valid: false, code, checks, nested: [] };
}
