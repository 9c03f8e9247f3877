import { formatVerifierKey, parseVerifierKey } from "@agent/transparency";
import type { WitnessAddress } from "../config/config-values.ts";
import type { Services } from "../services.ts";
import { askWitness, findWitnessedSize, type AskOutcome, type AskParts } from "./ask-witness.ts";
import { pinPeerLogs, type StatementTimes } from "./pin-peer-logs.ts";
import { listPeerWitnesses } from "./store.ts";

/** The state of a witness of the relay's own log. */
export interface WitnessState {
  readonly name: string;
  readonly vkey: string;
  readonly prefix: string;
  readonly state: "unasked" | AskOutcome["state"];
  /** The size that it cosigned last; null before the first time. */
  readonly size: number | null;
  /** When it last gave an answer; null before. */
  readonly answered_at: number | null;
}

/** The witnesses of the relay's own log. */
export interface LogWitnesses {
  /** Asks, before the first head is signed, whether a witness knows a newer one. */
  checkStart(): Promise<void>;
  /** Asks every witness that is due, each on its own, so that none delays another one. */
  ask(): Promise<void>;
  /** Reads what peers state about their logs and witnesses. */
  readStatements(): Promise<void>;
  listStates(): readonly WitnessState[];
  /** Resolves when no witness is asked. */
  idle(): Promise<void>;
}

interface Asked {
  readonly address: WitnessAddress;
  state: WitnessState["state"];
  size: number | undefined;
  answeredAt: number | null;
  failures: number;
  dueAt: number;
}

type Parts = AskParts & Pick<Services, "config" | "runtime">;

const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 600_000;

export function createLogWitnesses(parts: Parts): LogWitnesses {
  const { runtime, relayLog, log } = parts;
  const asked = new Map<string, Asked>();
  const running = new Map<string, Promise<void>>();
  const statementTimes: StatementTimes = new Map();
  let origin = relayLog.keys().origin;

  /** Follows the list of witnesses and keeps what is known of those that remain. */
  async function follow(): Promise<void> {
    // A new generation is another log, which no witness has cosigned yet.
    if (relayLog.keys().origin !== origin) asked.clear();
    origin = relayLog.keys().origin;
    const addresses = await listAddresses(parts);
    for (const name of asked.keys()) if (!addresses.has(name)) asked.delete(name);
    for (const [name, address] of addresses) {
      if (asked.has(name)) continue;
      const fresh = { size: undefined, answeredAt: null, failures: 0, dueAt: 0 };
      asked.set(name, { address, state: "unasked", ...fresh });
    }
  }

  async function askOne(witness: Asked): Promise<void> {
    const outcome = await askWitness(parts, witness.address, witness.size);
    if (outcome === undefined) return;
    record(witness, outcome);
  }

  function record(witness: Asked, outcome: AskOutcome): void {
    const { name } = witness.address.key;
    const isAccused = outcome.state === "refused" && [403, 422].includes(outcome.status);
    if (isAccused) log.error("log.witness_refused", { witness: name, status: outcome.status });
    recordOutcome(witness, outcome, runtime.now());
  }

  return {
    async checkStart() {
      if (!relayLog.isOn) return;
      await follow();
      await Promise.all(
        [...asked.values()].map(async (witness) => {
          const found = await findWitnessedSize(parts, witness.address);
          if ("state" in found) record(witness, found);
          else witness.size = found.size;
        }),
      );
    },
    async ask() {
      await follow();
      if (relayLog.holdReason() !== undefined) return;
      for (const [name, witness] of asked) {
        if (running.has(name) || runtime.now() < witness.dueAt) continue;
        const round = askOne(witness)
          .catch((error: unknown) => {
            log.error("log.witness_failed", { error: String(error) });
          })
          .finally(() => running.delete(name));
        running.set(name, round);
      }
    },
    readStatements: () => pinPeerLogs(parts, statementTimes),
    listStates: () =>
      [...asked.values()].map(({ address: { key, prefix }, state, size, answeredAt }) => ({
        name: key.name,
        vkey: formatVerifierKey(key),
        prefix,
        state,
        size: size ?? null,
        answered_at: answeredAt,
      })),
    async idle() {
      while (running.size > 0) await Promise.all(running.values());
    },
  };
}

/** Records the end of a round; a witness that failed waits twice as long each time. */
function recordOutcome(witness: Asked, outcome: AskOutcome, now: number): void {
  witness.state = outcome.state;
  if (outcome.state !== "unreachable") witness.answeredAt = now;
  if (outcome.state === "cosigned") {
    Object.assign(witness, { size: outcome.size, failures: 0, dueAt: 0 });
    return;
  }
  // The next round begins with the question what it has cosigned.
  witness.size = undefined;
  witness.dueAt = now + Math.min(FIRST_PAUSE_MS * 2 ** witness.failures, LONGEST_PAUSE_MS);
  witness.failures += 1;
}

/** Lists the configured witnesses and those of active peers, each key once. */
async function listAddresses({
  config,
  storage,
}: Pick<Parts, "config" | "storage">): Promise<Map<string, WitnessAddress>> {
  const rows = await listPeerWitnesses(storage.read);
  const offered = rows.flatMap(({ vkey, prefix }) => {
    const parsed = parseVerifierKey(vkey);
    return parsed.ok ? [{ key: parsed.key, prefix }] : [];
  });
  return new Map(
    [...offered, ...config.witness.asked].map((address) => [
      formatVerifierKey(address.key),
      address,
    ]),
  );
}
