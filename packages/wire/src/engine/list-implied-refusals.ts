import type { Code } from "../errors.ts";
import type { Operation } from "./operation.ts";
import { getOperatorLevel } from "./operator-level.ts";
import { FEDERATION_PREFIX, WITNESS_PREFIX } from "./peer-requests.ts";

/** Lists the refusals that the operation's row implies without declaring them. */
export function listImpliedRefusals(operation: Operation): Code[] {
  const codes: Code[] = ["server.failed", "server.unavailable"];
  // Probes have no rate limit and are answered until the process ends.
  if (operation.tier !== null) codes.push("server.draining", "rate.exceeded");
  if (operation.method !== "GET" && !operation.whileFrozen) codes.push("server.frozen");
  // The path does not exist while federation, or the witness, is off.
  if ([FEDERATION_PREFIX, WITNESS_PREFIX].some((prefix) => operation.path.startsWith(prefix))) {
    codes.push("route.not_found");
  }
  if (operation.auth === "peer") {
    // Requests of a peer are counted by its id, which is known only after its signature was verified.
    if (operation.tier === null) codes.push("server.draining", "rate.exceeded");
    codes.push("federation.signature_invalid", "federation.timestamp_expired");
    if (operation.body !== undefined) codes.push("federation.wrong_receiver");
  } else if (operation.auth !== "public") {
    codes.push(
      "auth.missing",
      "auth.malformed_token",
      "auth.expired_token",
      "auth.token_revoked",
      "auth.unknown_token",
      "auth.verification_failed",
      "auth.device_not_authorized",
      "agent.revoked",
      "agent.key_displaced",
    );
  }
  const readsToken =
    ["bearer", "master"].includes(operation.auth) || operation.readsCaller === true;
  if (readsToken && getOperatorLevel(operation) !== "view") {
    codes.push("session.level");
  }
  if (operation.singleUse) codes.push("auth.token_used");
  if (operation.auth === "master") codes.push("auth.master_only");
  if (operation.ownerOnly) codes.push("auth.not_owner");
  if (operation.scope !== undefined) codes.push("auth.scope_missing");
  if (operation.keyed) {
    codes.push("idempotency.key_invalid", "idempotency.key_in_use", "idempotency.key_reused");
  }
  if (operation.query !== undefined) codes.push("request.invalid");
  if (operation.textBytes !== undefined) {
    codes.push("request.invalid", "request.too_large", "request.timeout");
  } else if (operation.body !== undefined) {
    codes.push(
      "request.malformed_json",
      "request.invalid",
      "request.too_deep",
      "request.too_large",
      "request.media_type",
      "request.timeout",
    );
  }
  return codes;
}
