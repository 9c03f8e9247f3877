import type { Storage } from "../../src/storage/storage.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { createLog } from "../../src/observability/log.ts";
import { openRelay } from "../../src/open-relay.ts";
import { openStorage } from "../../src/storage/open-storage.ts";
import { serve } from "../../src/serve.ts";
import { findWitnessed } from "../../src/witness/store.ts";
import { systemRuntime as runtime } from "./system-runtime.ts";

/**
 * A relay in a separate process that is killed after storing the cosigned head of the log WITNESSED_ORIGIN and
 * before answering, once that head has at least WITNESSED_SIZE entries.
 */

const { WITNESSED_ORIGIN: origin = "", WITNESSED_SIZE } = process.env;

/** Kills the process after the commit that stored the head, before the caller learns of it. */
function withKill(storage: Storage): Storage {
  return {
    ...storage,
    async transaction(work, isolation) {
      const result = await storage.transaction(work, isolation);
      const stored = await findWitnessed(storage.read, origin);
      if ((stored?.size ?? 0) >= Number(WITNESSED_SIZE)) process.kill(process.pid, "SIGKILL");
      return result;
    },
  };
}

const read = readConfig(process.env);
if (!read.ok) throw new Error(read.faults.map(({ message }) => message).join("; "));
const ignore = () => {};
const log = createLog({ level: "error", write: { stdout: ignore, stderr: ignore }, now: Date.now });
const relay = await openRelay(read.config, runtime, log, async (options) => {
  const opened = await openStorage(options);
  return opened.ok ? { ...opened, storage: withKill(opened.storage) } : opened;
});
if (!relay.ok) throw new Error(relay.detail);
const { host, port } = await serve(relay, runtime, { host: "127.0.0.1", port: 0 });
process.stdout.write(`${JSON.stringify({ msg: "relay.listening", host, port })}\n`);
