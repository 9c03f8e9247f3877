import type { WitnessSigner } from "@agent/transparency";
import { Counter, Gauge } from "prom-client";
import { createHeadFile } from "../log/heads/head-file.ts";
import type { RequestMetrics } from "../observability/metrics.ts";
import type { Services } from "../services.ts";
import { checkCosignedHead } from "./check-cosigned-head.ts";
import { countEvidence } from "./store.ts";

/** The part of a relay that cosigns the logs of others. */
export interface Witness {
  /**
   * Returns the key of the generation that is in force; undefined if this database is an older copy, because
   * the sizes that were cosigned last went back with it.
   */
  readonly getSigner: () => WitnessSigner | undefined;
  /** Finds out, before the first request, whether this database is an older copy. */
  readonly checkStart: () => Promise<void>;
  /** Keeps a cosigned checkpoint outside of the database, so that a start with an older copy of it is noticed. */
  readonly keepCosigned: (checkpoint: string) => Promise<void>;
  /** Counts a request that was not cosigned. */
  readonly recordRefusal: (status: number) => void;
}

/** Returns undefined while the witness is off. */
export function createWitness(
  { config, relayLog, storage }: Pick<Services, "config" | "relayLog" | "storage">,
  { registry }: RequestMetrics,
): Witness | undefined {
  if (!config.witness.isOn) return undefined;
  const registers = [registry];
  const cosigned = createHeadFile(config.storage.databasePath, "witness-head");
  const refusals = new Counter({
    name: "agent_relay_witness_refusals_total",
    help: "Requests to cosign a log that were refused, by status.",
    labelNames: ["status"],
    registers,
  });
  new Gauge({
    name: "agent_relay_witness_evidence",
    help: "Signed checkpoints of other logs that do not fit what was cosigned.",
    registers,
    async collect() {
      this.set(await countEvidence(storage.reserved));
    },
  });
  return {
    getSigner: () => (relayLog.holdReason() === undefined ? relayLog.keys().witness : undefined),
    checkStart: () => checkCosignedHead(relayLog, storage.read, cosigned),
    keepCosigned: (checkpoint) => cosigned.save(checkpoint),
    recordRefusal: (status) => refusals.labels(String(status)).inc(),
  };
}
