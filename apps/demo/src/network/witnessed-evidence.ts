import { writeFile } from "node:fs/promises";
import { canonicalize } from "@agent/crypto";
import { openLogStatement, parseVerifierKey, type VerifierKey } from "@agent/transparency";
import { verifyArtifact } from "@agent/verify";
import { unwrapBody } from "../participants/unwrap-body.ts";
import type { NetworkRelay } from "./relays.ts";
import { runCommand, type CommandResult } from "./run-command.ts";

/** Evidence of a task, stored as a file, and the relays whose keys are used for its verification. */
export interface WitnessedEvidence {
  readonly path: string;
  readonly relay: Pick<NetworkRelay, "name" | "info" | "operator">;
  /** Empty if the head of the log is enough. */
  readonly witnesses: readonly NetworkRelay[];
}

interface Task {
  readonly agentId: string;
  readonly taskId: string;
}

/** Fetches the evidence of a task from a relay, as exactly the text that the relay signed. */
export async function fetchEvidence(
  { operator }: Pick<NetworkRelay, "operator">,
  params: Task,
): Promise<string> {
  return canonicalize(unwrapBody(await operator.getEvidence({ params })));
}

/** Waits until the relay's log contains a task under a head that all witnesses cosigned, and stores the evidence. */
export async function saveWitnessedEvidence(
  path: string,
  on: Omit<WitnessedEvidence, "path"> & { readonly task: Task },
): Promise<WitnessedEvidence> {
  const { relay, witnesses, task } = on;
  const log = {
    logKey: parseKey(getLogStatement(relay).vkey),
    witnesses: witnesses.map((witness) => parseKey(getLogStatement(witness).witness_vkey)),
    ...(witnesses.length > 0 && { quorum: witnesses.length }),
  };
  const end = Date.now() + 20_000;
  for (;;) {
    const text = await fetchEvidence(relay, task);
    if (verifyArtifact(text, { log }).valid) {
      await writeFile(path, text);
      return { path, relay, witnesses };
    }
    if (Date.now() > end) throw new Error("the evidence was not witnessed in time");
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Verifies evidence with the command and previously fetched keys, without any request. */
export function verifyWitnessed({
  path,
  relay,
  witnesses,
}: WitnessedEvidence): Promise<CommandResult> {
  const keys = ["--key", relay.info.public_key, "--log", getLogStatement(relay).vkey];
  const named = witnesses.flatMap((each) => ["--witness", getLogStatement(each).witness_vkey]);
  const quorum = witnesses.length > 0 ? ["--quorum", String(witnesses.length)] : [];
  return runCommand("agent-verify", [...keys, ...named, ...quorum, path]);
}

/** Returns the keys of a relay's log and of its witness, which the relay states with its own signature. */
export function getLogStatement({ name, info }: Pick<NetworkRelay, "name" | "info">) {
  const { relay_id: relayId, public_key: publicKey, log } = info;
  const opened = openLogStatement(log, { relayId, publicKey });
  const { vkey, witness_vkey } = log ?? {};
  if (!opened.ok || typeof vkey !== "string" || typeof witness_vkey !== "string") {
    throw new Error(`${name} states no log`);
  }
  return { vkey, witness_vkey };
}

function parseKey(vkey: string): VerifierKey {
  const parsed = parseVerifierKey(vkey);
  if (!parsed.ok) throw new Error(parsed.code);
  return parsed.key;
}
