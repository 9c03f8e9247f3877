import { copyFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { formatAddCheckpoint, parseCheckpoint } from "@agent/transparency";
import { createTestAgent } from "@agent/testkit";
import { readConfig } from "../../src/config/read-config.ts";
import { createLog } from "../../src/observability/log.ts";
import { openRelay, type OpenRelay } from "../../src/open-relay.ts";
import { serve } from "../../src/serve.ts";
import { systemRuntime as runtime } from "./system-runtime.ts";

/**
 * A relay with two contradictory logs, in a separate process. Its database was copied while it was down: one
 * copy grows through its readers' requests, the other one is shown to its witness. Both sign with the same
 * keys. When both have the same size, the head that readers see is sent to the witness as well.
 */

type Story = OpenRelay;

const { AGENT_DB_PATH: path = "", AGENT_LOG_WITNESSES = "", PORT = "0" } = process.env;
const [, witnessPrefix = ""] = AGENT_LOG_WITNESSES.split(" ");
const PAUSE_MS = 100;

function print(msg: string, fields: object): void {
  process.stdout.write(`${JSON.stringify({ msg, ...fields })}\n`);
}

async function openStory(databasePath: string, witnesses: string): Promise<Story> {
  const read = readConfig({
    ...process.env,
    AGENT_DB_PATH: databasePath,
    AGENT_LOG_INTERVAL_MS: "50",
    AGENT_LOG_WITNESSES: witnesses,
    AGENT_LOG_WITNESS_INTERVAL_MS: "1000",
  });
  if (!read.ok) throw new Error(read.faults.map(({ message }) => message).join("; "));
  const ignore = () => {};
  const log = createLog({
    level: "error",
    write: { stdout: ignore, stderr: ignore },
    now: runtime.now,
  });
  const opened = await openRelay(read.config, runtime, log);
  if (!opened.ok) throw new Error(opened.detail);
  return opened;
}

/** Binds a key that no reader requested, so that the log has one more entry. */
async function bindKey({ fetch, transparencyLog }: Story): Promise<void> {
  const { agentId: agent_id, publicKey: public_key } = createTestAgent(runtime);
  const request = new Request("http://relay.test/api/v1/agents/bootstrap", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ agent_id, public_key }),
  });
  const { status } = await fetch(request);
  if (status !== 201) throw new Error(`no key was bound: ${status}`);
  await transparencyLog.integrate();
}

async function readHead({ fetch }: Story) {
  const answer = await fetch(new Request("http://relay.test/log/v1/latest"));
  const note = await answer.text();
  const parsed = parseCheckpoint(note);
  return parsed.ok ? { ...parsed.head, note, lines: parsed.note.signatures.length } : undefined;
}

/** Sends the witness a head that contradicts the one it knows. */
async function offer(size: number, note: string): Promise<void> {
  const answer = await fetch(`${witnessPrefix}/add-checkpoint`, {
    method: "POST",
    headers: { "content-type": "text/plain; charset=utf-8" },
    body: formatAddCheckpoint(size, [], note),
  });
  print("liar.offered", { size, status: answer.status, body: await answer.text() });
}

/** Keeps both logs at the same size, and sends the witness one contradictory head for each size. */
async function serveBothStories(shown: Story, hidden: Story): Promise<void> {
  let offeredSize = 0;
  // Its first separate entry makes the hidden log differ.
  await bindKey(hidden);
  for (;;) {
    await hidden.tick();
    const [left, right] = [await readHead(shown), await readHead(hidden)];
    if (left !== undefined && right !== undefined) {
      if (left.size < right.size) await bindKey(shown);
      else if (left.size > right.size) await bindKey(hidden);
      else if (right.lines > 1 && left.size > offeredSize) {
        offeredSize = left.size;
        await offer(left.size, left.note);
      }
    }
    await sleep(PAUSE_MS);
  }
}

for (const end of ["", "-wal"]) {
  if (existsSync(path + end)) copyFileSync(path + end, `${path}.hidden${end}`);
}
const hidden = await openStory(`${path}.hidden`, AGENT_LOG_WITNESSES);
const shown = await openStory(path, "");
const { host, port } = await serve(shown, runtime, { host: "127.0.0.1", port: Number(PORT) });
print("relay.listening", { host, port });
process.on("SIGTERM", () => process.exit(0));
await serveBothStories(shown, hidden);
