import { parseJsonText } from "@agent/crypto";
import { judgeCredential, judgePresentation } from "./artifacts/credential.ts";
import { judgeDelegationToken } from "./artifacts/delegation-token.ts";
import { judgeLedger } from "./artifacts/ledger.ts";
import type { TimedOptions, VerifyOptions } from "./artifacts/options.ts";
import { judgeReceipt } from "./artifacts/receipt.ts";
import { judgeRelaySuccession } from "./artifacts/relay-succession.ts";
import { judgeAttestation, judgeNoShow, judgeSettlement } from "./artifacts/relay-record.ts";
import { judgeSuccession } from "./artifacts/succession.ts";
import { verifyBundle } from "./bundle/verify.ts";
import type { ArtifactKind } from "./kind.ts";
import { withRelayKeys } from "./relay-keys-of.ts";
import { recognise } from "./recognise.ts";
import type { GeneralRefusal } from "./refusals.ts";
import type { Verdict } from "./verdict.ts";

/**
 * Judges any artifact, given as a value or as its text, by the rules of its kind, which it finds out
 * by itself (docs/verifying.md). Never throws on what it is handed: a refused artifact has its `code`,
 * of which ArtifactRefusal is the list; `artifact.unreadable` and `artifact.unrecognised` have no kind.
 */
export function verifyArtifact(artifact: unknown, given: VerifyOptions = {}): Verdict {
  const options = withRelayKeys(given);
  const parsed = typeof artifact === "string" ? parseJsonText(artifact) : { value: artifact };
  if (parsed === null) return nothing("artifact.unreadable");
  const kind = recognise(parsed.value);
  if (kind === null) return nothing("artifact.unrecognised");
  // A bundle's text has to be the canonical one, so it is handed on as it came.
  if (kind === "bundle") return verifyBundle(artifact, options);
  return judge(kind, parsed.value as object, options);
}

function judge(
  kind: Exclude<ArtifactKind, "bundle">,
  value: object,
  options: VerifyOptions,
): Verdict {
  switch (kind) {
    case "receipt":
      return judgeReceipt(value, options);
    case "ledger":
      return judgeLedger(value, options);
    case "succession":
      return judgeSuccession(value, options);
    case "relay_succession":
      return judgeRelaySuccession(value, options);
    case "settlement":
      return judgeSettlement(value, options);
    case "no_show":
      return judgeNoShow(value, options);
    case "attestation":
      return judgeAttestation(value, options);
    case "credential":
    case "presentation":
    case "delegation_token": {
      const { now } = options;
      return now === undefined ? withoutClock(kind) : TIMED[kind](value, { ...options, now });
    }
  }
}

const TIMED = {
  credential: judgeCredential,
  presentation: judgePresentation,
  delegation_token: judgeDelegationToken,
} satisfies Partial<Record<ArtifactKind, (value: object, options: TimedOptions) => Verdict>>;

function withoutClock(kind: ArtifactKind): Verdict {
  const code = "artifact.clock_missing";
  return { kind, valid: false, code, checks: [{ name: "key_valid", ok: false, code }], nested: [] };
}

function nothing(code: GeneralRefusal): Verdict {
  const checks = [{ name: "well_formed", ok: false, code }] as const;
  return { kind: null, valid: false, code, checks, nested: [] };
}
