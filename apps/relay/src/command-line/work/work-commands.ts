import { limits, SERIES_METRICS, type SeriesMetric } from "@agent/wire";
import { MINUTE_MS } from "../../clock/durations.ts";
import { getTaskReport } from "./task-report.ts";
import {
  formatDuration,
  formatMoney,
  formatSparkline,
  formatTime,
  parseDuration,
  parseTime,
  toStateCell,
} from "../format-values.ts";
import {
  usageFault,
  type CommandCall,
  type CommandResult,
  type OperatorCommand,
} from "../operator-command.ts";
import { showOnlineHistory } from "./online-command.ts";
import { followEvents, listRecentEvents } from "./event-commands.ts";
import { buildListOutput, omitMissing, readPageQuery, PAGE_USAGE } from "../page-query.ts";
import { refuseUnknownId } from "../refuse-unknown-id.ts";

/** The commands about agents, tasks and what happened. */
export const workCommands = {
  agents: {
    usage: `agents [--state bound|registered|revoked] [--search TEXT] [--sort seen] ${PAGE_USAGE}`,
    purpose: "list all agents bound here, with their money, tasks and failures",
    run: listAgents,
  },
  online: {
    usage: "online ID [--from 1d]",
    purpose: "show when an agent was online, for at most the last 7 days",
    run: showOnlineHistory,
  },
  tasks: {
    usage:
      "tasks [--failed] [--state STATE] [--agent ID] [--submitter ID] [--from TIME] [--to TIME] " +
      `[--search TEXT] ${PAGE_USAGE}`,
    purpose: "list all tasks, newest first, with the reason for each failure",
    run: listTasks,
  },
  task: {
    usage: "task ID [--text]",
    purpose: "show one task: its executors and its money; --text also shows prompt and result",
    run: getTaskReport,
  },
  events: {
    usage: "events [--after NUMBER] [--limit N] | events --follow [--after NUMBER]",
    purpose: "list what changed at the relay, newest last; --follow waits for more",
    run: (call) => (call.options.follow === true ? followEvents(call) : listRecentEvents(call)),
  },
  series: {
    usage: "series [METRIC] [--from 1h] [--step 5m]",
    purpose: "show tasks, failures, money and durations over time",
    run: showSeries,
  },
  approvals: {
    usage: `approvals [--state pending|approved|denied|used] ${PAGE_USAGE}`,
    purpose: "list calls that wait for votes; only their approvers can vote",
    run: listApprovals,
  },
  trust: {
    usage: `trust ID ${PAGE_USAGE}`,
    purpose: "list the trust that delegators have in an agent",
    run: listTrustReceived,
  },
  audit: {
    usage: `audit [--actor NAME] [--action WORD] ${PAGE_USAGE}`,
    purpose: "list the actions of agents and operators, newest first",
    run: listAudit,
  },
} as const satisfies Record<string, OperatorCommand>;

async function listAgents(call: CommandCall): Promise<CommandResult> {
  const { state, search: q, sort } = call.options;
  const query = { ...readPageQuery(call), ...omitMissing({ state, q, sort }) };
  const answer = await call.client.listAllAgents({ query: query as object });
  if (!answer.ok) return answer;
  const { agents } = answer.body;
  const rows = agents.map((agent) => [
    agent.agent_id,
    agent.name ?? "-",
    toStateCell(agent.state),
    agent.online ? { text: "online", tone: "good" as const } : "offline",
    formatMoney(agent.balance),
    String(agent.open_tasks),
    String(agent.failed_24h),
    formatDuration(call.now() - agent.last_seen_at),
    agent.capabilities.join(" "),
  ]);
  const columns = [
    { title: "agent", isId: true },
    { title: "name", isFlexible: true },
    { title: "state" },
    { title: "online" },
    { title: "balance", align: "right" },
    { title: "open", align: "right" },
    { title: "failed 24 h", align: "right" },
    { title: "seen ago", align: "right" },
    { title: "capabilities", isFlexible: true },
  ] as const;
  return buildListOutput(answer.body, { columns, rows, empty: "no agents" });
}

async function listTasks(call: CommandCall): Promise<CommandResult> {
  const { failed, state, agent, submitter, from, to, search: q } = call.options;
  const now = call.now();
  const bounds = omitMissing({
    from: from === undefined ? undefined : parseTime(from, now),
    to: to === undefined ? undefined : parseTime(to, now),
  });
  if (Object.keys(bounds).length < [from, to].filter((text) => text !== undefined).length) {
    return usageFault("--from and --to are times: 2h (ago) or 2026-01-31T10:00:00Z");
  }
  const query = {
    ...readPageQuery(call),
    ...omitMissing({ state, agent, submitter, q }),
    ...bounds,
    ...(failed === true && { failed: "1" }),
  };
  const answer = await call.client.listAllTasks({ query: query as object });
  if (!answer.ok) return answer;
  const { tasks } = answer.body;
  const rows = tasks.map((task) => [
    task.task_id,
    formatDuration(now - task.submitted_at),
    toStateCell(task.status),
    task.assigned_to ?? task.agent_id,
    task.submitted_by ?? "-",
    task.required_capabilities.join(" "),
    task.settled === null ? formatMoney(task.estimated_cost) : formatMoney(task.settled),
    formatDuration(task.duration_ms),
    task.reason === null ? "" : `${task.reason.code}: ${task.reason.sentence}`,
  ]);
  const columns = [
    { title: "task", isId: true },
    { title: "ago", align: "right" },
    { title: "state" },
    { title: "executor", isId: true },
    { title: "submitter", isId: true },
    { title: "capability", isFlexible: true },
    { title: "price", align: "right" },
    { title: "took", align: "right" },
    { title: "reason", isFlexible: true },
  ] as const;
  return buildListOutput(answer.body, { columns, rows, empty: "no tasks" });
}

async function showSeries(call: CommandCall): Promise<CommandResult> {
  const { args, options, now, client } = call;
  const [wanted] = args;
  const isKnown = SERIES_METRICS.some((metric) => metric === wanted);
  if (wanted !== undefined && !isKnown) {
    return usageFault(`METRIC is one of ${SERIES_METRICS.join(", ")}`);
  }
  const asked = parseDuration(options.from ?? "1h");
  const span = asked === undefined ? undefined : Math.min(asked, limits.seriesMs);
  const step = options.step === undefined ? chooseStep(span ?? 0) : parseDuration(options.step);
  if (span === undefined || step === undefined) {
    return usageFault("--from and --step are durations such as 90s, 15m, 2h or 1d");
  }
  const metrics = wanted === undefined ? SERIES_METRICS : [wanted as SeriesMetric];
  const series = [];
  for (const metric of metrics) {
    const answer = await client.getSeries({ query: { metric, from: now() - span, step } });
    if (!answer.ok) return answer;
    series.push(answer.body);
  }
  const rows = series.map(({ metric, points }) => {
    const values = points.map(({ value }) => value);
    return [metric, summarize(metric, values), formatSparkline(values)];
  });
  const columns = [
    { title: "metric" },
    { title: "in all", align: "right" },
    { title: `the last ${formatDuration(span)}`, isFlexible: true },
  ] as const;
  const body = wanted === undefined ? { series } : series[0];
  return { ok: true, body, blocks: [{ columns, rows, empty: "no figures" }] };
}

/** As many bars as fit a terminal: one a minute of an hour. */
const chooseStep = (span: number) => Math.max(1, Math.ceil(span / MINUTE_MS / 60)) * MINUTE_MS;

/** The sum of counts and money; the newest value of the others. */
function summarize(metric: string, values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return "-";
  const sum = known.reduce((total, value) => total + value, 0);
  if (metric === "p50" || metric === "p95") return formatDuration(known.at(-1));
  if (metric === "online") return String(known.at(-1));
  return metric === "settled" || metric === "fees" ? formatMoney(sum) : String(sum);
}

async function listApprovals(call: CommandCall): Promise<CommandResult> {
  const { state: status } = call.options;
  const query = { ...readPageQuery(call), ...omitMissing({ status }) };
  const answer = await call.client.listAllApprovals({ query: query as object });
  if (!answer.ok) return answer;
  const { approvals } = answer.body;
  const rows = approvals.map((approval) => [
    approval.approval_id,
    approval.agent_id,
    approval.tool_name,
    toStateCell(approval.status),
    `${approval.votes.length} of ${approval.quorum_required}`,
    formatDuration(call.now() - approval.created_at),
  ]);
  const columns = [
    { title: "approval", isId: true },
    { title: "agent", isId: true },
    { title: "tool", isFlexible: true },
    { title: "state" },
    { title: "votes" },
    { title: "ago", align: "right" },
  ] as const;
  return buildListOutput(answer.body, { columns, rows, empty: "no approvals" });
}

async function listTrustReceived(call: CommandCall): Promise<CommandResult> {
  const [agentId = ""] = call.args;
  const unknown = await refuseUnknownId(call.client, agentId);
  if (unknown !== undefined) return unknown;
  const query = readPageQuery(call);
  const answer = await call.client.listTrustReceived({ params: { agentId }, query });
  if (!answer.ok) return answer;
  const { records } = answer.body;
  const rows = records.map((record) => [
    record.agent_id,
    record.trust_level,
    String(record.successful_tasks),
    String(record.failed_tasks),
    formatTime(record.last_seen_at),
  ]);
  const columns = [
    { title: "delegator", isId: true },
    { title: "level" },
    { title: "done", align: "right" },
    { title: "failed", align: "right" },
    { title: "last" },
  ] as const;
  const empty = `no agent has delegated to ${agentId}`;
  return buildListOutput(answer.body, { columns, rows, empty });
}

async function listAudit(call: CommandCall): Promise<CommandResult> {
  const { actor, action } = call.options;
  const query = { ...readPageQuery(call), ...omitMissing({ actor, action }) };
  const answer = await call.client.listOperatorAudit({ query });
  if (!answer.ok) return answer;
  const { entries } = answer.body;
  const rows = entries.map((entry) => [
    formatTime(entry.at),
    entry.actor,
    entry.action,
    entry.agent_id ?? "-",
    entry.result ?? "",
    entry.detail ?? "",
  ]);
  const columns = [
    { title: "when" },
    { title: "actor", isFlexible: true },
    { title: "action" },
    { title: "agent", isId: true },
    { title: "answer" },
    { title: "detail", isFlexible: true },
  ] as const;
  return buildListOutput(answer.body, { columns, rows, empty: "no entries" });
}
