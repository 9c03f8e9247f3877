import { sha256Hex } from "@agent/crypto";
import { formatAddCheckpoint } from "@agent/transparency";
import { ModelLog } from "@agent/transparency/model-log";
import { askWitness, createModelLog, witnessEnv } from "../../agents/witness.ts";
import { processCount } from "../../test-relay.ts";
import { withEnv, type Contract } from "../outcome.ts";

const log = createModelLog(3);
const stranger = new ModelLog(9, { origin: log.keys.origin });
for (let index = 0; index < 3; index += 1) stranger.append(new Uint8Array(90).fill(1));

const env = witnessEnv(log);
const first = formatAddCheckpoint(0, [], log.sign());
const fork = formatAddCheckpoint(3, [], createModelLog(3, 7).sign());

export const witnessContract: Contract<"addCheckpoint" | "getWitnessedCheckpoint"> = {
  addCheckpoint: {
    200: withEnv(env, (t) => askWitness(t, first)),
    409: withEnv(env, (t) => askWitness(t, formatAddCheckpoint(2, [], log.sign()))),
    "log.malformed": (t) => askWitness(t, "old 0\n\n"),
    "log.origin_unknown": (t) => askWitness(t, first),
    "log.key_unknown": withEnv(env, (t) =>
      askWitness(t, formatAddCheckpoint(0, [], stranger.sign())),
    ),
    "log.signature_invalid": withEnv(env, (t) => askWitness(t, first.replace("\n3\n", "\n4\n"))),
    "log.shrunk": withEnv(env, (t) => askWitness(t, formatAddCheckpoint(4, [], log.sign()))),
    "log.consistency_invalid": withEnv(env, async (t) => {
      await askWitness(t, first);
      return askWitness(t, formatAddCheckpoint(3, [], createModelLog(5, 7).sign()));
    }),
    "log.equivocation": withEnv(env, async (t) => {
      await askWitness(t, first);
      return askWitness(t, fork);
    }),
    "rate.exceeded": withEnv({ ...env, AGENT_RATE_LIMIT_SCALE: "0.000001" }, async (t) => {
      for (let asked = 0; asked < processCount; asked += 1) await askWitness(t, first);
      return askWitness(t, first);
    }),
  },
  getWitnessedCheckpoint: {
    200: withEnv(env, async (t) => {
      await askWitness(t, first);
      return t.request("GET", `/witness/v1/${sha256Hex(log.keys.origin)}/checkpoint`);
    }),
    "log.origin_unknown": (t) =>
      t.request("GET", `/witness/v1/${sha256Hex(log.keys.origin)}/checkpoint`),
  },
};
