import { entryOf } from "@agent/transparency";
import { ModelLog } from "@agent/transparency/model-log";
import { expect, test } from "vitest";
import { createMonitor } from "./monitor.ts";

function createLog(size: number): ModelLog {
  const log = new ModelLog(1);
  while (log.size < size) {
    log.append(entryOf.settlement({ task_id: `task ${log.size}`, payee_id: "x" }, { time: 1 }));
  }
  return log;
}

/** Runs a first round over a log and returns how often it hashed an id of 50 known tasks. */
async function countHashedRefs(log: ModelLog): Promise<number> {
  let hashes = 0;
  const toCounted = (ref: string) => ({
    // A tag is hashed from the text of its value.
    toString() {
      hashes += 1;
      return ref;
    },
  });
  const refs = Array.from({ length: 50 }, (_, at) => toCounted(`ref ${at}`));
  const knownRefs = refs as unknown as readonly string[];
  const monitor = createMonitor({
    prefix: "http://log",
    logKey: log.keys.logKey,
    watch: { agentIds: [], keys: [], knownArtifacts: [], knownRefs },
    state: { load: () => Promise.resolve(null), save: () => Promise.resolve() },
    report: () => {},
    fetch: (url) => {
      const path = (url as string).replace("http://log/", "");
      const isNote = path === "checkpoint" || path === "latest";
      const body = isNote ? log.sign() : new Uint8Array(log.readPath(path)!);
      return Promise.resolve(new Response(body));
    },
  });
  expect(await monitor.check()).toMatchObject({ ok: true, alarms: [], size: log.size });
  return hashes;
}

test("a round hashes each known task once, however many entries are new", async () => {
  for (const size of [10, 256 * 8]) expect(await countHashedRefs(createLog(size))).toBe(50);
});
