import type { Operations, Result } from "@agent/wire";
import { formatCount, formatDuration, formatMoney, formatTime } from "./format-values.ts";
import type { Block } from "./format-blocks.ts";
import { checkRelay } from "./check-relay.ts";
import {
  usageFault,
  type CommandCall,
  type CommandResult,
  type OperatorCommand,
} from "./operator-command.ts";
import { UNAVAILABLE_REMEDY } from "./run-operator-command.ts";
import { getUnfreezeRemedy } from "./unfreeze-remedy.ts";

type Overview = Result<Operations["getOverview"]>;

/** The commands about the relay as a whole. */
export const stateCommands = {
  status: {
    usage: "status",
    purpose: "show the state of the relay on one screen, and what needs your attention",
    run: showStatus,
  },
  doctor: {
    usage: "doctor",
    purpose: "check readiness, jobs, books, backup and settings, with a remedy for each fault",
    run: checkRelay,
  },
  processes: {
    usage: "processes",
    purpose: "list the processes of the relay, and which of them leads",
    run: listProcesses,
  },
  freeze: {
    usage: "freeze [REASON...]",
    purpose:
      "refuse writes from now on; without a reason, show whether and why the relay is frozen",
    run: async ({ client, args }) => {
      const reason = args.join(" ").trim();
      // An empty variable of a script must not look like a freeze that was done.
      if (args.length > 0 && reason === "") return usageFault("the reason must not be empty");
      if (args.length > 0) {
        const answer = await client.freeze({ body: { reason } });
        if (!answer.ok) return answer;
        const { body } = answer;
        const wasFrozen = body.reason !== reason;
        const note = wasFrozen ? ["it was frozen already, and that reason stays"] : [];
        return { ok: true, body, blocks: [...describeFreeze(body), ...note] };
      }
      const answer = await client.getFreeze();
      if (!answer.ok) return answer;
      const { body } = answer;
      const remedy = body.frozen ? [getUnfreezeRemedy(body)] : [];
      return { ok: true, body, blocks: [...describeFreeze(body), ...remedy] };
    },
  },
  unfreeze: {
    usage: "unfreeze [--restored]",
    purpose: "accept writes again; after a restore, --restored is required",
    run: async ({ client, options: { restored } }) => {
      const answer = await client.unfreeze({ body: restored === true ? { restored } : {} });
      if (!answer.ok) return answer;
      return { ok: true, body: answer.body, blocks: describeFreeze(answer.body) };
    },
  },
  clock: {
    usage: "clock accept",
    purpose: "accept the wall clock at once after a jump, instead of after 10 minutes",
    run: async ({ client }) => {
      const answer = await client.acceptClock();
      if (!answer.ok) return answer;
      const { now, moved_ms } = answer.body;
      const direction = moved_ms < 0 ? "backward" : "forward";
      const moved = `moved ${direction} by ${formatDuration(Math.abs(moved_ms))}`;
      const text = moved_ms === 0 ? "the clock had not jumped" : moved;
      return { ok: true, body: answer.body, blocks: [`it is ${formatTime(now)}; ${text}`] };
    },
  },
} as const satisfies Record<string, OperatorCommand>;

async function showStatus({ client, now }: CommandCall): Promise<CommandResult> {
  const [info, answer] = [await client.relayInfo(), await client.getOverview()];
  if (!info.ok) return info;
  if (!answer.ok) return answer;
  const { name, relay_id, version } = info.body;
  const { body } = answer;
  return {
    ok: true,
    body,
    blocks: [
      { text: `${name}  ${relay_id}  ${version}`, tone: "strong" },
      ...describeFreeze(body.freeze),
      ...describeWork(body, now()),
      ...describeMoney(body),
      `network   ${describePeers(body)}`,
      `database  ${describeDatabase(body, now())}`,
      ...listNeeds(body),
    ],
  };
}

function describeFreeze({
  frozen,
  reason,
  since,
  by,
}: {
  readonly frozen: boolean;
  readonly reason: string | null;
  readonly since: number | null;
  readonly by?: string | null;
}): readonly Block[] {
  if (!frozen) return [{ text: "state     running", tone: "good" }];
  const author = by === null || by === undefined ? "" : ` by ${by}`;
  const text = `state     FROZEN since ${formatTime(since)}${author}: ${reason ?? "no reason"}`;
  return [{ text, tone: "bad" }];
}

function describeWork({ tasks, open, agents, sockets }: Overview, now: number): readonly Block[] {
  const oldest =
    open.oldest_at === null ? "" : `, the oldest for ${formatDuration(now - open.oldest_at)}`;
  return [
    `tasks     ${open.count} open (${tasks.claimed} claimed)${oldest}`,
    `          ${tasks.completed} completed, ${tasks.failed} failed, ${tasks.denied} denied, ` +
      `${tasks.cancelled} cancelled, ${tasks.expired} expired`,
    `agents    ${agents.bound} known, ${agents.registered} of them registered, ${agents.online} online; open sockets: ${sockets}`,
  ];
}

function describeMoney({ money }: Overview): readonly Block[] {
  return [
    `money     ${formatMoney(money.balances)} in accounts, ${formatMoney(money.held)} held, ` +
      `${formatMoney(money.inspected)} under inspection, ` +
      `${formatMoney(money.pending_withdrawals)} to be paid out`,
    `fees      ${formatMoney(money.fees_today)} today, ${formatMoney(money.fees_total)} in all`,
  ];
}

function describePeers({ peers }: Overview): string {
  const states = Object.entries(peers).map(([state, count]) => `${count} ${state}`);
  return states.length === 0 ? "no peers" : `peers: ${states.join(", ")}`;
}

function describeDatabase({ database }: Overview, now: number): string {
  if (database.in_memory) return "in memory: everything is lost when the relay stops";
  const size = database.bytes === null ? "" : `${(database.bytes / 1e6).toFixed(1)} MB, `;
  const { last_backup_at: at } = database;
  return `${size}${at === null ? "no backup recorded" : `backup ${formatDuration(now - at)} ago`}`;
}

async function listProcesses({ client, now }: CommandCall): Promise<CommandResult> {
  const answer = await client.listProcesses();
  if (!answer.ok) return answer;
  const rows = answer.body.processes.map((each) => [
    each.name,
    each.process_id ?? "-",
    each.alive
      ? { text: each.leads ? "leads" : "follows", tone: "good" as const }
      : { text: "stopped unexpectedly", tone: "bad" as const },
    each.version,
    String(each.agents),
    formatDuration(now() - each.started_at),
    formatTime(each.renewed_at),
  ]);
  const columns = [
    { title: "name", isFlexible: true },
    { title: "process", isId: true },
    { title: "state" },
    { title: "version" },
    { title: "agents", align: "right" },
    { title: "up for", align: "right" },
    { title: "last seen" },
  ] as const;
  return { ok: true, body: answer.body, blocks: [{ columns, rows, empty: "no processes" }] };
}

/** Lists everything that waits for a decision of the operator. */
function listNeeds(overview: Overview): readonly Block[] {
  const { withdrawals_pending, disputes_pending, outbox_failed, approvals_pending } = overview;
  const { jobs, books, freeze, database } = overview;
  const late = jobs.filter(({ ok }) => !ok).map(({ job }) => job);
  const needs = [
    ...(database.write_fault === undefined
      ? []
      : [`${database.write_fault}: ${UNAVAILABLE_REMEDY}`]),
    ...(freeze.frozen ? [`frozen: ${getUnfreezeRemedy(freeze)}`] : []),
    ...(withdrawals_pending > 0
      ? [`${formatCount(withdrawals_pending, "withdrawal")} waiting: withdrawals`]
      : []),
    ...(disputes_pending > 0
      ? [`${formatCount(disputes_pending, "dispute")} to decide: disputes`]
      : []),
    ...(outbox_failed > 0
      ? [`${formatCount(outbox_failed, "settlement")} failed: outbox --state failed`]
      : []),
    ...(late.length > 0 ? [`late: job ${late.join(", job ")}`] : []),
    ...(books?.consistent === false ? ["the books do not balance: doctor"] : []),
  ];
  const waiting =
    approvals_pending === 0
      ? []
      : [`${formatCount(approvals_pending, "approval")} waiting for votes`];
  if (needs.length === 0)
    return [...waiting, { text: "nothing needs your attention", tone: "good" }];
  return [...waiting, ...needs.map((need) => ({ text: `! ${need}`, tone: "bad" as const }))];
}
