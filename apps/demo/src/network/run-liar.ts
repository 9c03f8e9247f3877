import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { delegate } from "@agent/client";
import { bytesToHex } from "@agent/crypto";
import { parseCheckpoint } from "@agent/transparency";
import type { DemoCheck } from "../checks/demo-check.ts";
import {
  getWorker,
  joinAsClient,
  startAgent,
  type ClientAgent,
  type Worker,
} from "../participants/participants.ts";
import { LIAR_MAIN } from "../participants/programs.ts";
import type { RunningProcess } from "../participants/processes.ts";
import { unwrapBody } from "../participants/unwrap-body.ts";
import { formatColumns } from "../report.ts";
import type { DemoContext } from "../run-to-completion.ts";
import { startRelay, type NetworkRelay } from "./relays.ts";
import { runCommand, type CommandResult } from "./run-command.ts";
import { fetchEvidence, getLogStatement } from "./witnessed-evidence.ts";

/**
 * Runs a relay that shows its readers a different log than its witness, and shows that the witness, a monitor
 * and a verifier detect it. Only the relay is modified; the other programs run as published.
 */
export async function runLiar({
  dataDir,
  processes,
  print,
}: Omit<DemoContext, "signal">): Promise<DemoCheck[]> {
  const liar = await startRelay(processes, "delta", dataDir);
  const { vkey } = getLogStatement(liar);
  const witness = await startRelay(processes, "alpha", dataDir, { AGENT_WITNESS_LOGS: vkey });
  const { witness_vkey } = getLogStatement(witness);
  const witnessAddress = `${witness_vkey} ${witness.url}/witness/v1`;
  const running = await (
    await liar.crash()
  ).restart({ main: LIAR_MAIN, env: { AGENT_LOG_WITNESSES: witnessAddress } });

  const [editor, linguist] = await Promise.all([
    joinAsClient("editor", liar.url),
    startAgent(processes, "linguist", liar.url, dataDir).then((agentId) =>
      getWorker(liar.operator, "linguist", agentId),
    ),
  ]);
  const path = join(dataDir, "evidence.json");
  await writeFile(path, await buyWork(liar, editor, linguist));
  const refusal = await waitForRefusal(running, await getShownSize(liar));
  const { evidence } = unwrapBody(await witness.operator.getLogState());
  const last = evidence.findLast(({ offered }) => parseHead(offered).size === refusal.size);

  const ofLog = ["--log", vkey];
  const ofUrl = ["--url", `${liar.url}/log/v1`, "--state", join(dataDir, "monitor.json")];
  const asked = ["--witness", witnessAddress];
  const monitor = await runCommand("agent-monitor", [...ofLog, ...ofUrl, ...asked]);
  const ofRelay = [...ofLog, "--key", liar.info.public_key];
  const alone = await runCommand("agent-verify", [...ofRelay, path]);
  const byWitness = ["--witness", witness_vkey, "--quorum", "1"];
  const named = await runCommand("agent-verify", [...ofRelay, ...byWitness, path]);
  await processes.stop();
  print(formatFindings({ refusal, last, monitor, alone, named }));
  return [
    {
      claim: "The witness refused the second story with 422, and keeps both notes",
      passed: refusal.status === 422 && last?.code === "log.equivocation",
    },
    {
      claim: "agent-monitor reports monitor.split_view, with both notes as evidence",
      passed: monitor.exitCode === 1 && monitor.lines.join().includes("monitor.split_view"),
    },
    {
      claim: "agent-verify --quorum 1 refuses the evidence, which is valid without a witness",
      passed: alone.exitCode === 0 && named.exitCode === 1,
    },
    { claim: "No process is left", passed: processes.listRunning().length === 0 },
  ];
}

/** Buys work from the liar's agent and returns its evidence. */
async function buyWork(liar: NetworkRelay, editor: ClientAgent, { agentId }: Worker) {
  const params = { agentId: editor.agentId };
  unwrapBody(await liar.operator.deposit({ params, body: { amount: 10 } }));
  const done = await delegate(editor.client, {
    agentId,
    prompt: "two\nstories",
    timeoutMs: 20_000,
  });
  if (!done.ok) throw new Error(`the delegation failed: ${done.message} (${done.code})`);
  return fetchEvidence(liar, { agentId, taskId: done.task.task_id });
}

interface Refusal {
  readonly size: number;
  readonly status: number;
  readonly code: string;
}

/** Waits until the lying relay has sent a head of at least this size to its witness. */
function waitForRefusal(running: RunningProcess, minSize: number): Promise<Refusal> {
  return running.waitForLine((line) => {
    if (!line.includes('"msg":"liar.offered"')) return undefined;
    const { size, status, body } = JSON.parse(line) as Refusal & { readonly body: string };
    const { code } = JSON.parse(body) as { code: string };
    return size >= minSize ? { size, status, code } : undefined;
  });
}

async function getShownSize({ operator }: NetworkRelay): Promise<number> {
  return unwrapBody(await operator.getLogState()).size;
}

function parseHead(note: string): { readonly size: number; readonly root: string } {
  const parsed = parseCheckpoint(note);
  if (!parsed.ok) throw new Error(parsed.code);
  return { size: parsed.head.size, root: `${bytesToHex(parsed.head.root).slice(0, 16)}...` };
}

function formatFindings({
  refusal,
  last,
  monitor,
  alone,
  named,
}: {
  readonly refusal: Refusal;
  readonly last: { readonly held: string; readonly offered: string } | undefined;
  readonly monitor: CommandResult;
  readonly alone: CommandResult;
  readonly named: CommandResult;
}): string[] {
  const heads = last === undefined ? [] : [parseHead(last.offered), parseHead(last.held)];
  const [shown, held] = heads.map(({ size, root }) => [String(size), root]);
  const indent = (lines: readonly string[]) => lines.map((line) => `    ${line.trim()}`);
  // Both reports contain the same claim about the evidence, so only the verdicts are shown.
  const fromVerdict = ({ lines }: CommandResult) =>
    indent(lines.slice(lines.findIndex((line) => line.includes("bundle: "))));
  return [
    "delta shows its readers another log than its witness alpha, both under its key:",
    ...formatColumns([
      ["", "entries", "root"],
      ["to readers", ...(shown ?? [])],
      ["to alpha", ...(held ?? [])],
    ]),
    "",
    `  alpha refuses to cosign what readers see: ${refusal.status} ${refusal.code}`,
    "  agent-monitor, which asks alpha too:",
    ...indent(monitor.lines),
    "  agent-verify --log, which trusts delta alone:",
    ...fromVerdict(alone),
    "  agent-verify --log --witness alpha --quorum 1:",
    ...fromVerdict(named),
    "",
  ];
}
