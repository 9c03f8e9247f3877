import { formatDuration, formatTime, parseTime } from "../format-values.ts";
import { usageFault, type CommandCall, type CommandResult } from "../operator-command.ts";
import { omitMissing } from "../page-query.ts";
import { refuseUnknownId } from "../refuse-unknown-id.ts";

/** Shows when an agent was online. */
export async function showOnlineHistory({
  client,
  args,
  options,
  now,
}: CommandCall): Promise<CommandResult> {
  const [agentId = ""] = args;
  const from = options.from === undefined ? undefined : parseTime(options.from, now());
  if (options.from !== undefined && from === undefined) {
    return usageFault("--from is a time: 2h (ago) or 2026-01-31T10:00:00Z");
  }
  const answer = await client.getOnlineHistory({
    params: { agentId },
    query: omitMissing({ from }),
  });
  if (!answer.ok) return (await refuseUnknownId(client, agentId)) ?? answer;
  const { spans } = answer.body;
  const columns = [
    { title: "from" },
    { title: "until" },
    { title: "lasted", align: "right" },
  ] as const;
  const rows = spans.map((span) => [
    formatTime(span.from),
    formatTime(span.until),
    formatDuration(span.until - span.from),
  ]);
  return {
    ok: true,
    body: answer.body,
    blocks: [describeShare(answer.body), { columns, rows, empty: "not seen online" }],
  };
}

interface Span {
  readonly from: number;
  readonly until: number;
}

const sumSpans = (spans: readonly Span[]) =>
  spans.reduce((sum, { from, until }) => sum + until - from, 0);

/** Formats the share of the sampled time for which an agent was online. */
export function describeShare({
  from,
  to,
  spans,
  watched,
}: {
  readonly from: number;
  readonly to: number;
  readonly spans: readonly Span[];
  readonly watched: readonly Span[];
}): string {
  const looked = sumSpans(watched);
  if (looked === 0 && spans.length > 0) return "online when the relay first checked";
  if (looked === 0) return "the relay has not checked yet in this time; it checks once a minute";
  const online = sumSpans(spans);
  const share = Math.round((online / looked) * 1_000) / 10;
  const seen = `online ${share} %: ${formatDuration(online)} of ${formatDuration(looked)}`;
  return `${seen} that the relay checked, of the last ${formatDuration(to - from)}`;
}
