import type { Operations, Result } from "@agent/wire";
import { formatMoney, formatShare, formatTime, toStateCell } from "./format-values.ts";
import {
  usageFault,
  type CommandCall,
  type CommandResult,
  type OperatorCommand,
} from "./operator-command.ts";
import { buildListOutput, omitMissing, readPageQuery, PAGE_USAGE } from "./page-query.ts";

type Inspections = Result<Operations["listDisputes"]>;

const USAGE =
  `disputes ${PAGE_USAGE} | disputes --all [--state inspecting|rejected|disputed|closed] ${PAGE_USAGE} | ` +
  "disputes decide TASK PERCENT --reason R";

/** The commands about results that are inspected before they are paid. */
export const disputeCommands = {
  disputes: {
    usage: USAGE,
    purpose:
      "list disputes that wait for your decision, or all inspections with --all, or decide a dispute",
    run: runDisputes,
  },
} as const satisfies Record<string, OperatorCommand>;

async function runDisputes(call: CommandCall): Promise<CommandResult> {
  const { client, args, options } = call;
  const [act, taskId = "", percent = ""] = args;
  if (act === "decide") return decide(call, taskId, percent);
  const page = readPageQuery(call);
  const query = { ...page, ...omitMissing({ state: options.state }) };
  const answer =
    options.all === true
      ? await client.listAllInspections({ query: query as object })
      : await client.listDisputes({ query: page });
  return answer.ok ? showInspections(answer.body, options.all === true) : answer;
}

function showInspections(body: Inspections, isAll: boolean): CommandResult {
  const rows = body.inspections.map((each) => [
    each.task_id,
    toStateCell(each.state),
    each.submitter_id,
    each.executor_id,
    formatMoney(each.due),
    each.outcome === null ? formatTime(each.deadline) : formatTime(each.outcome.closed_at),
    each.outcome === null
      ? each.verdicts.map(({ reason }) => (typeof reason === "string" ? reason : "")).join(" / ")
      : `${each.outcome.outcome}, ${formatShare(each.outcome.share)} paid`,
  ]);
  const columns = [
    { title: "task", isId: true },
    { title: "state" },
    { title: "submitter", isId: true },
    { title: "executor", isId: true },
    { title: "due", align: "right" },
    { title: "ends" },
    { title: isAll ? "outcome" : "statements", isFlexible: true },
  ] as const;
  const empty = isAll ? "no inspections" : "no dispute waits for you";
  return buildListOutput(body, { columns, rows, empty });
}

/** The task is enough for the operator; its path also names the agent. */
async function decide(
  { client, options: { reason = "" } }: CommandCall,
  taskId: string,
  percent: string,
): Promise<CommandResult> {
  const share = parsePercent(percent);
  if (share !== undefined && share > 0 && share < 0.01 && !percent.endsWith("%")) {
    return usageFault(
      `${percent} is less than one percent: write ${percent}%, or 25 for a quarter`,
    );
  }
  if (share === undefined) {
    return usageFault(`PERCENT ${percent} must be from 0 to 100, with at most 4 decimals`);
  }
  const report = await client.getTaskReport({ params: { taskId } });
  if (!report.ok) return report;
  const params = { agentId: report.body.task.agent_id, taskId };
  const answer = await client.decideDispute({ params, body: { share, reason } });
  if (!answer.ok) return answer;
  const paid = formatShare(answer.body.outcome?.share ?? 0);
  const text = `decided: ${paid} of ${formatMoney(answer.body.due)} is paid to the executor`;
  return { ok: true, body: answer.body, blocks: [{ text, tone: "good" }] };
}

/** Parses a share in percent, with at most four decimals, which a share in millionths can hold. */
export function parsePercent(text: string): number | undefined {
  if (!/^\d{1,3}(\.\d{1,4})?%?$/.test(text)) return undefined;
  const percent = Number.parseFloat(text);
  return percent <= 100 ? Math.round(percent * 10_000) / 1_000_000 : undefined;
}
