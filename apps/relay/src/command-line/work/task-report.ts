import type { Operations, Result } from "@agent/wire";
import type { Block } from "../format-blocks.ts";
import { formatDuration, formatMoney, formatTime, toStateCell } from "../format-values.ts";
import type { CommandCall, CommandResult } from "../operator-command.ts";

/** Shows everything about one task; its texts only when they are asked for. */
export async function getTaskReport(call: CommandCall): Promise<CommandResult> {
  const { client, args, options } = call;
  const [taskId = ""] = args;
  const params = { taskId };
  const answer = await client.getTaskReport({ params });
  if (!answer.ok) return answer;
  if (options.text !== true) {
    return { ok: true, body: answer.body, blocks: describeReport(answer.body) };
  }
  const texts = await client.getTaskTexts({ params });
  if (!texts.ok) return texts;
  const { prompt, result } = texts.body;
  return {
    ok: true,
    body: { ...answer.body, prompt, result },
    blocks: [
      ...describeReport(answer.body),
      { text: "prompt", tone: "quiet" },
      prompt,
      { text: "result", tone: "quiet" },
      result ?? "-",
    ],
  };
}

type Report = Result<Operations["getTaskReport"]>;

function describeReport(report: Report): readonly Block[] {
  const { task, parent_task_id, children, hold, postings } = report;
  const sum = postings.reduce((total, { amount }) => total + Math.round(amount * 1e6), 0) / 1e6;
  return [
    { text: `task ${task.task_id}`, tone: "strong" },
    // For a failed task the reason comes first.
    ...(task.reason === null
      ? []
      : [{ text: `${task.reason.code}: ${task.reason.sentence}`, tone: "bad" as const }]),
    `state      ${task.status}, submitted ${formatTime(task.submitted_at)}, took ${formatDuration(task.duration_ms)}`,
    `from       ${task.submitted_by ?? "-"} to ${task.assigned_to ?? task.agent_id}`,
    `price      ${formatMoney(task.estimated_cost)}, paid ${task.settled === null ? "-" : formatMoney(task.settled)}`,
    ...(parent_task_id === null ? [] : [`parent     ${parent_task_id}`]),
    ...children.map((child) => `child      ${child}`),
    ...(hold === null
      ? []
      : [
          `held       ${formatMoney(hold.amount)} of ${hold.payer_id} until ${formatTime(hold.until)}`,
        ]),
    {
      columns: [
        { title: "executor", isId: true },
        { title: "relay", isId: true },
        { title: "price", align: "right" },
        { title: "outcome" },
      ],
      rows: report.executors.map(({ agent_id, relay_id, price, outcome }) => [
        agent_id,
        relay_id ?? "-",
        formatMoney(price),
        toStateCell(outcome),
      ]),
      empty: "no executor is recorded",
    },
    {
      columns: [
        { title: "claimed by", isId: true },
        { title: "channel" },
        { title: "times", align: "right" },
        { title: "last" },
      ],
      rows: report.deliveries.map(({ agent_id, channel, attempts, last_at }) => [
        agent_id,
        channel ?? "-",
        String(attempts),
        formatTime(last_at),
      ]),
      empty: "no executor has claimed it yet",
    },
    {
      columns: [
        { title: "account", isFlexible: true },
        { title: "posting" },
        { title: "amount", align: "right" },
        { title: "at" },
      ],
      rows: postings.map(({ account, type, amount, created_at }) => [
        account,
        type,
        formatMoney(amount),
        formatTime(created_at),
      ]),
      empty: "no money moved",
    },
    ...(postings.length === 0 ? [] : [`sum        ${formatMoney(sum)}`]),
  ];
}
