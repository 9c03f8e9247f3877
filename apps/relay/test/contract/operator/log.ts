import { canonicalize, sha256Hex } from "@agent/crypto";
import type { TestRelay } from "../../test-relay.ts";
import type { Contract } from "../outcome.ts";

const ABSENT = "0".repeat(64);

/** Binds a key, which is then recorded in the log, and returns the hash of its artifact. */
async function bindKey(t: TestRelay): Promise<string> {
  const { agentId: agent_id, publicKey: public_key } = await t.createAgent();
  const valid_from = t.clock.now();
  return sha256Hex(canonicalize({ agent_id, public_key, device_id: null, valid_from }));
}

async function requestIntegrated(t: TestRelay, path: (artifact: string) => string) {
  const artifact = await bindKey(t);
  await t.relay.tick();
  return t.request("GET", path(artifact));
}

export const logContract: Contract<
  "getCheckpoint" | "getLatestCheckpoint" | "getLogTile" | "getLogProof" | "getLogState"
> = {
  getCheckpoint: {
    200: (t) => requestIntegrated(t, () => "/log/v1/checkpoint"),
    "log.no_checkpoint": (t) => t.request("GET", "/log/v1/checkpoint"),
  },
  getLatestCheckpoint: {
    200: (t) => requestIntegrated(t, () => "/log/v1/latest"),
    "log.no_checkpoint": (t) => t.request("GET", "/log/v1/latest"),
  },
  getLogTile: {
    200: (t) => requestIntegrated(t, () => "/log/v1/tile/entries/000.p%2F1"),
    "log.tile_not_found": (t) => t.request("GET", "/log/v1/tile/0/000.p/1"),
  },
  getLogProof: {
    200: (t) => requestIntegrated(t, (artifact) => `/log/v1/proof?artifact=${artifact}`),
    "log.entry_not_found": (t) => t.request("GET", `/log/v1/proof?artifact=${ABSENT}`),
    "log.not_integrated": async (t) =>
      t.request("GET", `/log/v1/proof?artifact=${await bindKey(t)}`),
  },
  getLogState: { 200: (t) => t.asOperator("GET", "/api/v1/admin/log") },
};
