import { randomBytes } from "node:crypto";
import { runStep } from "../../src/log/segments/merge-segments.ts";
import { migrations } from "../../src/storage/migrations/index.ts";
import { openStorage } from "../../src/storage/open-storage.ts";
import { appendSegment, hashOf } from "../stored/log-segments.ts";

/**
 * Adds segments to the log in the database AGENT_DB_PATH or AGENT_DATABASE_URL faster than they can be merged,
 * until the process is killed. Prints a line before each step.
 */

const { AGENT_DB_PATH: path, AGENT_DATABASE_URL: url } = process.env;
const ENTRIES = 100;

const opened = await openStorage({ ...(url === undefined ? { path } : { url }), migrations });
if (!opened.ok) throw new Error(opened.detail);
const pickHash = () => hashOf(randomBytes(6).readUIntBE(0, 6));
for (;;) {
  await appendSegment(opened.storage, Array.from({ length: ENTRIES }, pickHash));
  process.stdout.write("step\n");
  await opened.storage.transaction(runStep);
}
