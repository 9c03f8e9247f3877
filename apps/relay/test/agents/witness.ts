import { formatVerifierKey } from "@agent/transparency";
import { ModelLog } from "@agent/transparency/model-log";
import type { Reply, TestRelay } from "../test-relay.ts";

/** Creates a log with `size` entries; another `story` gives other entries with the same key. */
export function createModelLog(size: number, story = 0): ModelLog {
  const log = new ModelLog(1);
  for (let index = 0; index < size; index += 1) {
    log.append(new Uint8Array(90).fill(story).with(0, 1).with(1, 1).with(2, 0).with(3, index));
  }
  return log;
}

/** Returns the environment of a relay that cosigns a log. */
export const witnessEnv = ({ keys }: ModelLog) => ({
  AGENT_WITNESS_LOGS: formatVerifierKey(keys.logKey),
});

/** Requests a cosignature, in the way that a log does. */
export function askWitness(t: Pick<TestRelay, "request">, raw: string): Promise<Reply> {
  return t.request("POST", "/witness/v1/add-checkpoint", {
    raw,
    headers: { "content-type": "text/plain; charset=utf-8" },
  });
}
